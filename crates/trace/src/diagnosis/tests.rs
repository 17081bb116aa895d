//! Conversations told by hand, and what is found in them.
