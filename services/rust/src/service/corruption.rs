//! Wrong replies: one letter changed, or one byte missing.

use std::any::Any;
use std::sync::Arc;

use wirelab_contract::calendar::{BookReply, DeployReply, EntriesReply, Entry};
use wirelab_contract::charging::{
    ConfirmActionReply, CreditControlReply, CreditReply, DebitReservationReply, DirectDebitReply,
    ReleaseResReply, ReserveReply,
};
use wirelab_contract::petclinic::{
    Owner, Owners, Pet, PetType, PetTypes, Pets, Specialties, Specialty, Vet, Vets, Visit, Visits,
};
use wirelab_contract::records::{AllocateReply, CountAllocationsReply, FindAllocationReply, Team};
use wirelab_contract::stream::{Item, PushReply};
use wirelab_contract::transfer::{
    DownloadChunk, HelloBytesReply, HelloReply, SubmitReply, UploadReply,
};

use crate::faults::{FaultAction, Wrong};
use crate::metrics::Metrics;

/// Travels with a call whose reply is to be wrong in its content or length.
#[derive(Debug, Clone)]
pub(crate) struct Corruptor {
    wrong: Wrong,
    metrics: Arc<Metrics>,
}

impl Corruptor {
    /// Makes a reply wrong in that way, and counts it.
    pub(crate) fn new(wrong: Wrong, metrics: &Arc<Metrics>) -> Self {
        Corruptor {
            wrong,
            metrics: Arc::clone(metrics),
        }
    }

    // Counted here and not by the call: only a reply that was really changed counts.
    fn commit(&self, reply: &mut dyn Corrupt) {
        match self.wrong {
            Wrong::Length => reply.shorten(),
            Wrong::Content | Wrong::Status | Wrong::Trailers => reply.change(),
        }
        // The index of a wrong reply always exists; the type allows none for other actions.
        if let Some(fault) = FaultAction::Wrong(self.wrong).index() {
            self.metrics.fault(fault);
        }
    }
}

/// Makes a reply message wrong where a corruptor came with the call.
pub(crate) fn corrupt<M: Any>(mut reply: M, corruptor: Option<&Corruptor>) -> M {
    corrupt_any(&mut reply, corruptor);
    reply
}

/// The same for a message whose type is not known.
pub(crate) fn corrupt_any(reply: &mut dyn Any, corruptor: Option<&Corruptor>) {
    // An empty reply (Done of petclinic) has nothing to be wrong.
    if let Some(corruptor) = corruptor
        && let Some(reply) = corruptible(reply)
    {
        corruptor.commit(reply);
    }
}

/// The same for the text of an application error.
pub(crate) fn corrupt_text(mut text: String, corruptor: Option<&Corruptor>) -> String {
    if let Some(corruptor) = corruptor {
        corruptor.commit(&mut text);
    }
    text
}

/// What can be made wrong. Where there is nothing to change or to take away,
/// something is added.
pub(crate) trait Corrupt {
    /// Changes one letter.
    fn change(&mut self);
    /// Takes one byte away.
    fn shorten(&mut self);
}

impl Corrupt for String {
    fn change(&mut self) {
        let middle = self.char_indices().nth(self.chars().count() / 2);
        match middle {
            Some((at, old)) => {
                // Never the same letter, and ASCII: the text stays legal in every codec.
                let new = if old == 'x' { "y" } else { "x" };
                self.replace_range(at..at + old.len_utf8(), new);
            }
            None => self.push('x'),
        }
    }

    fn shorten(&mut self) {
        match self.pop() {
            // A letter of several bytes is replaced by one byte less of ASCII.
            Some(last) => self.extend(std::iter::repeat_n('x', last.len_utf8() - 1)),
            None => self.push('x'),
        }
    }
}

impl Corrupt for Vec<u8> {
    fn change(&mut self) {
        let middle = self.len() / 2;
        match self.get_mut(middle) {
            // In the middle, where neither a length nor a prefix is.
            Some(byte) => *byte ^= 1,
            None => self.push(b'x'),
        }
    }

    fn shorten(&mut self) {
        if self.pop().is_none() {
            self.push(b'x');
        }
    }
}

impl Corrupt for i32 {
    fn change(&mut self) {
        // The lowest bit: the number stays within int32 and positive numbers stay positive.
        *self ^= 1;
    }

    /// A decimal digit less.
    fn shorten(&mut self) {
        *self /= 10;
    }
}

/// A list is changed in its first row; an empty one gets a row.
macro_rules! by_first_row {
    ($($row:ty),* $(,)?) => {
        $(
            impl Corrupt for Vec<$row> {
                fn change(&mut self) {
                    match self.first_mut() {
                        Some(row) => row.change(),
                        None => self.push(<$row>::default()),
                    }
                }

                fn shorten(&mut self) {
                    match self.first_mut() {
                        Some(row) => row.shorten(),
                        None => self.push(<$row>::default()),
                    }
                }
            }
        )*
    };
}

by_first_row!(Owner, Pet, PetType, Specialty, Vet, Visit);

impl Corrupt for i64 {
    fn change(&mut self) {
        *self ^= 1;
    }

    /// A decimal digit less.
    fn shorten(&mut self) {
        *self /= 10;
    }
}

impl Corrupt for Option<Team> {
    fn change(&mut self) {
        self.get_or_insert_default().member1.change();
    }

    fn shorten(&mut self) {
        self.get_or_insert_default().member1.shorten();
    }
}

impl Corrupt for Vec<Entry> {
    fn change(&mut self) {
        match self.first_mut() {
            Some(entry) => entry.title.change(),
            None => self.push(Entry::default()),
        }
    }

    fn shorten(&mut self) {
        match self.first_mut() {
            Some(entry) => entry.title.shorten(),
            None => self.push(Entry::default()),
        }
    }
}

/// Corrupts a message by one of its fields.
macro_rules! by_field {
    ($($message:ty: $field:ident),* $(,)?) => {
        $(
            impl Corrupt for $message {
                fn change(&mut self) {
                    self.$field.change();
                }

                fn shorten(&mut self) {
                    self.$field.shorten();
                }
            }
        )*

        /// The message as something to corrupt, if it is a reply.
        fn corruptible(message: &mut dyn Any) -> Option<&mut dyn Corrupt> {
            $(
                // Asked first: a failed downcast would keep the borrow.
                if message.is::<$message>() {
                    let message = message.downcast_mut::<$message>()?;
                    return Some(message);
                }
            )*
            None
        }
    };
}

by_field! {
    HelloReply: text,
    HelloBytesReply: text,
    SubmitReply: batch,
    UploadReply: sha256,
    DownloadChunk: data,
    CreditReply: cn,
    DirectDebitReply: cn,
    ReserveReply: cn,
    DebitReservationReply: cn,
    ReleaseResReply: cn,
    CreditControlReply: balance,
    ConfirmActionReply: cn,
    DeployReply: status,
    BookReply: title,
    EntriesReply: entries,
    AllocateReply: message,
    FindAllocationReply: team_details,
    CountAllocationsReply: count,
    PetType: name,
    PetTypes: pet_types,
    Specialty: name,
    Specialties: specialties,
    Vet: last_name,
    Vets: vets,
    Visit: description,
    Visits: visits,
    Pet: name,
    Pets: pets,
    Owner: last_name,
    Owners: owners,
    Item: text,
    PushReply: sha256,
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirelab_contract::clinic::routes::ReplyBody;
    use wirelab_contract::{Operation, Unary, UnaryVisitor};

    #[test]
    fn a_changed_text_has_its_length_and_another_letter() {
        for text in ["a", "x", "Hello, wirelab", "xxxx"] {
            let mut changed = text.to_owned();
            changed.change();
            assert_eq!(changed.len(), text.len());
            let differing = changed.chars().zip(text.chars()).filter(|(a, b)| a != b);
            assert_eq!(differing.count(), 1);
        }
    }

    #[test]
    fn a_shortened_text_has_one_byte_less() {
        for text in ["a", "Hello", "naï", "日本", "🔩"] {
            let mut shortened = text.to_owned();
            shortened.shorten();
            assert_eq!(shortened.len() + 1, text.len());
        }
    }

    #[test]
    fn nothing_becomes_something() {
        let (mut text, mut bytes) = (String::new(), Vec::<u8>::new());
        text.change();
        bytes.shorten();
        assert_eq!((text.len(), bytes.len()), (1, 1));
    }

    #[test]
    fn the_reply_of_every_operation_can_be_made_wrong() {
        struct Reply;
        impl UnaryVisitor for Reply {
            type Output = bool;

            fn visit<O: Unary>(self) -> bool {
                corruptible(&mut O::Reply::default()).is_some()
            }
        }
        for operation in Operation::ALL {
            let is_empty = operation
                .route()
                .is_some_and(|route| route.reply == ReplyBody::Empty);
            if is_empty {
                // There is nothing in it to be wrong.
                continue;
            }
            assert_ne!(operation.visit_unary(Reply), Some(false), "{operation}");
        }
    }
}
