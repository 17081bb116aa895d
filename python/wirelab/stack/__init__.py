"""Stacks: references, the axis table and its rules, operations, and what a target is."""
