//! Codecs: every operation in every codec, and the validation of replies.

mod contracts;
mod petclinic;
mod replies;
