"""What stands around every text that nmem gives a session, so that it is known again and never comes back into memory."""

from __future__ import annotations

BEGIN, END = "[nmem context]", "[/nmem context]"
