//! SOAP as text: messages in every format, and formats that other writers produce.

mod formats;
mod messages;
