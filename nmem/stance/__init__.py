"""Stance: how a session moves between thinking and acting, widening and narrowing, compared with its past."""
