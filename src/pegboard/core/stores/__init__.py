"""What every store does alike, and the stores in memory."""
