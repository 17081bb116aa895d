"""Compares dissections of captures that others made with what tshark reads in them."""
