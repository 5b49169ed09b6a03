"""What one party does with its own table: read it, code it as agreed, recode it, hand its rows in."""
