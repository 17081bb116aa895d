//! The items of a stream as an examination reads them.

use wirelab_contract::stream::Item;
use wirelab_wire::codec::MessageFormat;
use wirelab_wire::stream::{Events, Lines};

use super::complete;

/// Bytes of one item at most: a text of 64 KiB and all of its characters escaped, and some room.
const ITEM_BYTES_MAX: usize = 512 << 10;

/// Reads one item, which must have every field.
pub(super) fn read(format: MessageFormat, message: &[u8]) -> Result<Item, String> {
    let item: Item = format.read(message).map_err(|error| error.to_string())?;
    complete::check(format, &format.write(&item), message)?;
    Ok(item)
}

/// The items of a body of lines.
pub(super) fn of_lines(format: MessageFormat, body: &[u8]) -> Result<Vec<Item>, String> {
    let (mut lines, mut rest, mut items) = (Lines::new(ITEM_BYTES_MAX), body, Vec::new());
    while lines.next(&mut rest).map_err(|error| error.to_string())? {
        items.push(read(format, lines.line())?);
    }
    match lines.is_within() {
        true => Err("the last line has no end".into()),
        false => Ok(items),
    }
}

/// The items of messages, each of which ends at one of `ends` in `body`.
pub(super) fn of_messages(
    format: MessageFormat,
    body: &[u8],
    ends: &[usize],
) -> Result<Vec<Item>, String> {
    let begins = std::iter::once(&0).chain(ends);
    let messages = begins.zip(ends).map(|(from, to)| &body[*from..*to]);
    messages.map(|message| read(format, message)).collect()
}

/// The items of a body of events, each of which has its index as its id.
pub(super) fn of_events(format: MessageFormat, body: &[u8]) -> Result<Vec<Item>, String> {
    let (mut events, mut rest, mut items) = (Events::new(ITEM_BYTES_MAX), body, Vec::new());
    while events.next(&mut rest).map_err(|error| error.to_string())? {
        let item = read(format, events.data())?;
        if events.id() != item.index.to_string().as_bytes() {
            let id = String::from_utf8_lossy(events.id()).into_owned();
            return Err(format!("an event with id {id:?} and index {}", item.index));
        }
        items.push(item);
    }
    events.finish().map_err(|error| error.to_string())?;
    Ok(items)
}

#[cfg(test)]
mod tests {
    use wirelab_wire::codec::Codec;

    use super::*;

    const ITEM: &str = r#"{"index":0,"due_ns":1,"sent_ns":3,"received_ns":2,"text":"a"}"#;

    fn format() -> MessageFormat {
        MessageFormat::from(Codec::Json)
    }

    #[test]
    fn lines_are_items_and_the_last_must_end() {
        let items = of_lines(format(), format!("{ITEM}\n{ITEM}\n").as_bytes());
        assert_eq!(items.unwrap().len(), 2);
        let cut = of_lines(format(), ITEM.as_bytes()).unwrap_err();
        assert!(cut.contains("no end"), "{cut}");
        let incomplete = of_lines(format(), b"{\"index\":0}\n").unwrap_err();
        assert!(incomplete.contains("due_ns"), "{incomplete}");
    }

    #[test]
    fn events_have_their_index_as_id() {
        let body = |id: &str| format!("id: {id}\ndata: {ITEM}\n\n");
        let items = of_events(format(), body("0").as_bytes()).unwrap();
        assert_eq!(items[0].text, "a");
        for wrong in ["1", ""] {
            assert!(
                of_events(format(), body(wrong).as_bytes()).is_err(),
                "{wrong}"
            );
        }
    }
}
