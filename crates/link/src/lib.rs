//! The network between caller and service: two network namespaces, what joins
//! them, and how that delays, loses and limits what goes through.
