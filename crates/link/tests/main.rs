//! Links in this process and in one of their own.

mod privileges;
mod process;
mod traffic;
