"""Stance: how a session moves between thinking and acting, widening and narrowing, beside earlier sessions."""
