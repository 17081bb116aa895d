"""What a run found, for people: sentences, tables, and one page that opens offline.

The same rows feed the terminal, the page and the exports, so that none can say what
another does not. Studies add their own sections to the page.
"""
