//! Model and subject, given the same calls.

use wirelab_contract::{ApplicationError, Call, Reply, State};

use crate::difference::{Difference, EXCERPT, excerpt, same};
use crate::finding::Finding;
use crate::items;
use crate::numbers::Numbers;
use crate::subject::{Response, Subject};

/// Findings of one section after which it is clear enough.
const FINDINGS_MAX: usize = 20;

/// A service and the model, given the same calls.
pub(crate) struct Walk<'a> {
    model: &'a State,
    subject: &'a mut dyn Subject,
    numbers: &'a mut Numbers,
    /// Calls made.
    pub(crate) calls: u64,
    /// Where the two differed.
    pub(crate) findings: Vec<Finding>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        model: &'a State,
        subject: &'a mut dyn Subject,
        numbers: &'a mut Numbers,
    ) -> Self {
        Walk {
            model,
            subject,
            numbers,
            calls: 0,
            findings: Vec::new(),
        }
    }

    /// Gives `call` to both and returns the answer of the model, with the numbers of
    /// the model. `name` describes the attempt.
    pub(crate) fn step(&mut self, name: &str, call: &Call) -> Result<Reply, ApplicationError> {
        let expected = self.model.answer(call);
        // The model has answered and the subject has not, yet they stay alike: calls that a
        // stack has no form for (Hello, streams, a refused booking) change nothing that is
        // kept.
        if self.findings.len() >= FINDINGS_MAX || !self.subject.carries(call) {
            return expected;
        }
        self.calls += 1;
        let sent = self.numbers.translate_call(call);
        let response = self.subject.call(&sent);
        // The state of the two may differ from here on. Later findings may follow from this
        // one, so the first of a section is the one to look at.
        if let Err((expected, found)) = self.compare(&expected, response, &sent) {
            self.findings.push(Finding {
                name: name.to_owned(),
                call: excerpt(&format!("{call:?}")),
                expected,
                found,
            });
        }
        expected
    }

    /// Gives `call`, which no reader must take, to the subject alone: any
    /// refusal passes, except the text of another error of the contract, which would
    /// show that the call was read.
    pub(crate) fn unread(&mut self, name: &str, call: &Call) {
        if self.findings.len() >= FINDINGS_MAX || !self.subject.carries(call) {
            return;
        }
        let expected = self.model.answer(call).err().map(|error| error.to_string());
        self.calls += 1;
        let response = self.subject.call(call);
        // A refusal by the library has a text of its own. A text of the contract shows that
        // the list was read and its fields were looked at.
        let read = match &response {
            Response::Reply(_) | Response::Chunks(_) | Response::Items(_) => true,
            Response::Error(text) => {
                Some(text) != expected.as_ref() && text.parse::<ApplicationError>().is_ok()
            }
            Response::Invalid(_) => false,
        };
        if read {
            self.findings.push(Finding {
                name: name.to_owned(),
                call: excerpt(&format!("{call:?}")),
                expected: expected.unwrap_or_else(|| "a refusal".to_owned()),
                found: excerpt(&format!("{response:?}")),
            });
        }
    }

    /// Compares the response to `sent` with the answer of the model. The error holds
    /// the texts of both.
    fn compare(
        &mut self,
        expected: &Result<Reply, ApplicationError>,
        response: Response,
        sent: &Call,
    ) -> Result<(), Difference> {
        match (expected, response) {
            (Ok(Reply::Download(chunks)), Response::Chunks(found)) => {
                let expected: Vec<Vec<u8>> = chunks.clone().map(|chunk| chunk.data).collect();
                // Lengths first: megabytes of a pattern say nothing to a reader, the sizes
                // of chunks do.
                same(&lengths(&expected), &lengths(&found))?;
                if expected == found {
                    return Ok(());
                }
                Err(("the pattern".into(), "other bytes in the chunks".into()))
            }
            (Ok(Reply::Feed(schedule)), Response::Items(found)) => {
                items::compare_feed(schedule, &found)
            }
            (Ok(Reply::Chat(expected)), Response::Items(found)) => {
                items::compare_chat(expected, &found)
            }
            (Ok(expected), Response::Reply(mut found)) => {
                self.numbers
                    // Before the replies are compared: the service may choose its numbers,
                    // so only with them replaced can the two be equal.
                    .learn(expected, &mut found, sent)
                    .map_err(|error| ("a number of its own".to_owned(), error))?;
                same_reply(expected, &found)
            }
            (Err(expected), Response::Error(found)) => {
                // By text: it is the one part of an error that every binding carries.
                same(&format!("error: {expected}"), &format!("error: {found}"))
            }
            (expected, response) => {
                let expected = match expected {
                    Ok(reply) => excerpt(&format!("{reply:?}")),
                    Err(error) => format!("error: {error}"),
                };
                Err((expected, excerpt(&format!("{response:?}"))))
            }
        }
    }
}

fn lengths(chunks: &[Vec<u8>]) -> String {
    let last = chunks.last().map_or(0, Vec::len);
    let whole: usize = chunks.iter().map(Vec::len).sum();
    format!("{} chunks, {whole} bytes, the last of {last}", chunks.len())
}

/// Replies are equal, or shown from where they begin to differ.
fn same_reply(expected: &Reply, found: &Reply) -> Result<(), Difference> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
    // By characters, since an offset in bytes could lie within one.
    let both = expected.chars().zip(found.chars());
    let equal = both.take_while(|(a, b)| a == b).count();
    let from = |text: &str| -> String {
        // Some of the equal part too, because it has the name of the field.
        let start = equal.saturating_sub(40);
        let shown: String = text.chars().skip(start).take(EXCERPT).collect();
        if start > 0 {
            format!("…{shown}")
        } else {
            shown
        }
    };
    Err((from(&expected), from(&found)))
}
