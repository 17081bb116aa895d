"""Validity checks: whether a trial's load, link, packets and machine were what they should be."""
