"""How a session moves between thinking and acting, widening and narrowing; and how that compares with its past."""
