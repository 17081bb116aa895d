"""How captures of known truth are made."""
