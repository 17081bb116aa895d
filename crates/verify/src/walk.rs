//! Model and subject, given the same calls.

use wirelab_contract::{ApplicationError, Call, Reply, State};

use crate::finding::Finding;
use crate::numbers::Numbers;
use crate::subject::{Said, Subject};

/// Findings of one section after which it is clear enough.
const FINDINGS_MAX: usize = 20;

/// Characters of a value that a finding shows.
const EXCERPT: usize = 160;

/// A service that is given calls, with the model at its side.
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

    /// Gives `call` to both. `name` says what is tried. The model's answer
    /// comes back, with the model's numbers.
    pub(crate) fn step(&mut self, name: &str, call: &Call) -> Result<Reply, ApplicationError> {
        let expected = self.model.answer(call);
        if self.findings.len() >= FINDINGS_MAX || !self.subject.carries(call) {
            return expected;
        }
        self.calls += 1;
        let sent = self.numbers.translated(call);
        let said = self.subject.call(&sent);
        if let Err((wanted, found)) = self.judge(&expected, said, &sent) {
            self.findings.push(Finding {
                name: name.to_owned(),
                call: excerpt(&format!("{call:?}")),
                expected: wanted,
                found,
            });
        }
        expected
    }

    /// Gives `call`, which no reader must take, to the subject alone: any
    /// refusal will do but one in words that the contract has for something
    /// else, which would tell that it was read all the same.
    pub(crate) fn unread(&mut self, name: &str, call: &Call) {
        if self.findings.len() >= FINDINGS_MAX || !self.subject.carries(call) {
            return;
        }
        let expected = self.model.answer(call).err().map(|error| error.to_string());
        self.calls += 1;
        let said = self.subject.call(call);
        let read = match &said {
            Said::Reply(_) | Said::Chunks(_) => true,
            Said::Error(text) => {
                Some(text) != expected.as_ref() && text.parse::<ApplicationError>().is_ok()
            }
            Said::Nonsense(_) => false,
        };
        if read {
            self.findings.push(Finding {
                name: name.to_owned(),
                call: excerpt(&format!("{call:?}")),
                expected: expected.unwrap_or_else(|| "a refusal".to_owned()),
                found: excerpt(&format!("{said:?}")),
            });
        }
    }

    /// Compares what was said to `sent` with what the model says; the words of
    /// both where they differ.
    fn judge(
        &mut self,
        expected: &Result<Reply, ApplicationError>,
        said: Said,
        sent: &Call,
    ) -> Result<(), (String, String)> {
        match (expected, said) {
            (Ok(Reply::Download(chunks)), Said::Chunks(found)) => {
                let wanted: Vec<Vec<u8>> = chunks.clone().map(|chunk| chunk.data).collect();
                same(&lengths(&wanted), &lengths(&found))?;
                if wanted == found {
                    return Ok(());
                }
                Err(("the pattern".into(), "other bytes in the chunks".into()))
            }
            (Ok(wanted), Said::Reply(mut found)) => {
                self.numbers
                    .learn(wanted, &mut found, sent)
                    .map_err(|error| ("a number of its own".to_owned(), error))?;
                same_reply(wanted, &found)
            }
            (Err(wanted), Said::Error(found)) => {
                same(&format!("error: {wanted}"), &format!("error: {found}"))
            }
            (wanted, said) => {
                let wanted = match wanted {
                    Ok(reply) => excerpt(&format!("{reply:?}")),
                    Err(error) => format!("error: {error}"),
                };
                Err((wanted, excerpt(&format!("{said:?}"))))
            }
        }
    }
}

fn lengths(chunks: &[Vec<u8>]) -> String {
    let last = chunks.last().map_or(0, Vec::len);
    let whole: usize = chunks.iter().map(Vec::len).sum();
    format!("{} chunks, {whole} bytes, the last of {last}", chunks.len())
}

fn same(wanted: &str, found: &str) -> Result<(), (String, String)> {
    match wanted == found {
        true => Ok(()),
        false => Err((excerpt(wanted), excerpt(found))),
    }
}

/// Replies are equal, or shown from where they begin to differ.
fn same_reply(wanted: &Reply, found: &Reply) -> Result<(), (String, String)> {
    if wanted == found {
        return Ok(());
    }
    let (wanted, found) = (format!("{wanted:?}"), format!("{found:?}"));
    let both = wanted.chars().zip(found.chars());
    let equal = both.take_while(|(a, b)| a == b).count();
    let from = |text: &str| -> String {
        let start = equal.saturating_sub(40);
        let shown: String = text.chars().skip(start).take(EXCERPT).collect();
        if start > 0 {
            format!("…{shown}")
        } else {
            shown
        }
    };
    Err((from(&wanted), from(&found)))
}

/// The beginning of a long text.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
