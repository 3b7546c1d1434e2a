"""One file per step; `order.py` says in which order and why."""
