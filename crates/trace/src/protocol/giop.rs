//! GIOP 1.0 to 1.2 over TCP, both directions (CORBA 3.3 part 2, section 9.4).

use wirelab_wire::cdr::ByteOrder;
use wirelab_wire::giop::passive::{self, ReplyHead, RequestHead};
use wirelab_wire::giop::{HEADER_BYTES, Kind as MessageKind, MessageHeader, Version};

use super::calls::{Calls, name};
use super::cursor::Cursor;
use crate::protocol::exchange::{ExchangeHalf, ExchangeObserver, Pdu};
use crate::protocol::layer::{Content, Kind};

/// Bytes of a request's or reply's own header that are waited for.
const CALL_HEAD_MAX: usize = 16 << 10;

#[derive(Debug)]
enum Reading {
    Header,
    /// The content of a request, reply or fragment, before its arguments.
    CallHead(MessageHeader),
    /// The rest of a message: a number of bytes, of that call, or of none.
    Body(MessageHeader, u32, Option<u32>),
    /// The rest of a message that carries no call.
    Control(u32),
    /// Bytes are missing, or were not GIOP: until a message begins a segment.
    Lost,
}

#[derive(Debug)]
struct Side {
    reading: Reading,
    partial: Vec<u8>,
    /// GIOP 1.1: the message that fragments continue.
    continued: Option<u32>,
}

/// Both sides of a connection: 0 asks, 1 answers.
#[derive(Debug)]
pub(super) struct Giop {
    sides: [Side; 2],
    may_turn: bool,
    /// Bytes are missing, perhaps whole messages.
    pub(super) is_ambiguous: bool,
}

impl Giop {
    pub(super) fn new(beginning: [bool; 2]) -> Giop {
        let side = |beginning| Side {
            reading: if beginning {
                Reading::Header
            } else {
                Reading::Lost
            },
            partial: Vec::new(),
            continued: None,
        };
        Giop {
            sides: beginning.map(side),
            may_turn: !beginning[0],
            is_ambiguous: false,
        }
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.sides.iter().map(|side| side.partial.capacity()).sum()
    }

    pub(super) fn take<E: ExchangeObserver>(
        &mut self,
        mut side: usize,
        input: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        // ORBs write a message at once, so that its header begins a segment.
        if matches!(self.sides[side].reading, Reading::Lost) && begins_message(input) {
            self.sides[side].reading = Reading::Header;
        }
        let mut rest = input;
        while !rest.is_empty() {
            let used = match self.sides[side].reading {
                Reading::Header => self.header(&mut side, rest, calls, cursor),
                Reading::CallHead(header) => self.call_head(side, header, rest, calls, cursor),
                Reading::Body(header, left, id) => {
                    let used = rest.len().min(left as usize);
                    let place = id.and_then(|id| calls.find(id));
                    let call = place.and_then(|place| calls.get(place));
                    let extent = call.map(|call| call.extent(side));
                    cursor.assign_to(Content::Cdr, used, extent);
                    self.body_taken(side, header, left - used as u32, id, calls, cursor);
                    used
                }
                Reading::Control(left) => {
                    let used = rest.len().min(left as usize);
                    cursor.label(Kind::GiopControl, used);
                    self.sides[side].reading = match left - used as u32 {
                        0 => Reading::Header,
                        left => Reading::Control(left),
                    };
                    used
                }
                Reading::Lost => {
                    cursor.label(Kind::Unknown, rest.len());
                    rest.len()
                }
            };
            rest = &rest[used..];
        }
    }

    fn header<E: ExchangeObserver>(
        &mut self,
        side: &mut usize,
        rest: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) -> usize {
        let own = &mut self.sides[*side];
        let taken = rest.len().min(HEADER_BYTES - own.partial.len());
        own.partial.extend_from_slice(&rest[..taken]);
        cursor.hold(taken);
        let Some(raw) = own.partial.first_chunk() else {
            return taken;
        };
        let parsed = MessageHeader::parse(raw);
        own.partial.clear();
        let Ok(header) = parsed else {
            self.desynchronize(*side, calls, cursor);
            return taken;
        };
        cursor.pdu(Pdu::Giop(header.kind));
        self.turn_to(header.kind, side, calls);
        let own = &mut self.sides[*side];
        own.reading = match header.kind {
            MessageKind::Request | MessageKind::Reply | MessageKind::Fragment => {
                Reading::CallHead(header)
            }
            _ => {
                cursor.release_all(Kind::GiopControl, None);
                match header.size {
                    0 => Reading::Header,
                    size => Reading::Control(size),
                }
            }
        };
        // A message without content has no byte that would trigger the next step.
        if header.size == 0 && matches!(own.reading, Reading::CallHead(_)) {
            self.call_head(*side, header, &[], calls, cursor);
        }
        taken
    }

    /// In a capture that began late, only the first message shows which side asks.
    fn turn_to(&mut self, kind: MessageKind, side: &mut usize, calls: &mut Calls) {
        let asks = matches!(kind, MessageKind::Request | MessageKind::LocateRequest);
        let answers = matches!(kind, MessageKind::Reply | MessageKind::LocateReply);
        if !self.may_turn || !asks && !answers {
            return;
        }
        self.may_turn = false;
        // Both parser states move along with the roles.
        if asks != (*side == 0) {
            self.sides.swap(0, 1);
            calls.caller = calls.caller.opposite();
            *side = 1 - *side;
        }
    }

    /// The header of a request, reply or fragment inside its message. Its bytes
    /// wait until it is whole, to be distinguished from the arguments.
    fn call_head<E: ExchangeObserver>(
        &mut self,
        side: usize,
        header: MessageHeader,
        rest: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) -> usize {
        let own = &mut self.sides[side];
        // Never negative: `partial` holds bytes of this message only.
        let missing = header.size as usize - own.partial.len();
        let input = &rest[..rest.len().min(missing)];
        let whole = input.len() == missing;
        let content = if own.partial.is_empty() {
            input
        } else {
            own.partial.extend_from_slice(input);
            &own.partial
        };
        // Behind a header that ends with what has come there may be padding.
        let mut start = MessageStart::read(&header, content)
            .filter(|start| whole || start.bytes() < content.len());
        let mut room = cursor.hold(input.len());
        if start.is_none() {
            if own.partial.is_empty() {
                own.partial.extend_from_slice(input);
            }
            // A service context may be of any length; what does not fit counts as
            // header.
            room &= own.partial.len() < CALL_HEAD_MAX;
            if !whole && room {
                return input.len();
            }
            start = Some(MessageStart::Nothing(own.partial.len()));
        }
        let taken = own.partial.len().max(input.len());
        own.partial.clear();
        let start = start.unwrap_or(MessageStart::Nothing(taken));
        self.begin_body(side, header, start, taken, calls, cursor);
        input.len()
    }

    /// What a message is about is known; `taken` bytes of its content wait.
    fn begin_body<E: ExchangeObserver>(
        &mut self,
        side: usize,
        header: MessageHeader,
        start: MessageStart,
        taken: usize,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let head_bytes = start.bytes();
        let id = match start {
            MessageStart::Request(head) if side == 0 => {
                let call = calls.begin(head.id, cursor);
                call.exchange.name = name([&head.operation, ""]);
                // A oneway operation: no reply comes (section 9.4.2).
                if !head.response_expected {
                    call.reply_done = true;
                }
                Some(head.id)
            }
            MessageStart::Reply(head) if side == 1 => {
                let call = calls.find(head.id).and_then(|place| calls.get(place));
                // A second reply with this id is of a request that the capture lacks.
                let call = call.filter(|call| !call.reply_done);
                if call.is_none() {
                    cursor
                        .listener
                        .message_unpaired(cursor.flow, ExchangeHalf::Reply);
                }
                let status = u16::try_from(head.status).unwrap_or(u16::MAX);
                call.map(|call| {
                    call.exchange.status = Some((status, None));
                    head.id
                })
            }
            MessageStart::Fragment(Some(id)) => Some(id),
            // Fragments of GIOP 1.1 have no request id: they continue the message
            // before them (CORBA 3.3 part 2, section 9.4.9).
            MessageStart::Fragment(None) => self.sides[side].continued,
            _ => None,
        };
        let call = id
            .and_then(|id| calls.find(id))
            .and_then(|at| calls.get(at));
        let mut extent = call.map(|call| call.extent(side));
        let head = HEADER_BYTES + head_bytes.min(taken);
        cursor.release(Kind::GiopHeaders, head, extent.as_deref_mut());
        cursor.release_all(Content::Cdr, extent);
        let left = header.size - (taken as u32).min(header.size);
        self.body_taken(side, header, left, id, calls, cursor);
    }

    /// Of a message's content, `left` bytes are to come.
    fn body_taken<E: ExchangeObserver>(
        &mut self,
        side: usize,
        header: MessageHeader,
        left: u32,
        id: Option<u32>,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = &mut self.sides[side];
        if left > 0 {
            own.reading = Reading::Body(header, left, id);
            return;
        }
        own.reading = Reading::Header;
        // Bit 1 of the flags: more fragments follow (section 9.4.1).
        own.continued = id.filter(|_| header.more);
        if header.more {
            return;
        }
        if let Some(id) = id {
            calls.end(side, id, cursor.listener);
        }
    }

    /// Bytes are missing. Inside arguments the thread is kept.
    pub(super) fn gap<E: ExchangeObserver>(
        &mut self,
        side: usize,
        bytes: u64,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        match self.sides[side].reading {
            Reading::Body(header, left, id) if u64::from(left) >= bytes => {
                let call = id
                    .and_then(|id| calls.find(id))
                    .and_then(|at| calls.get(at));
                if let Some(call) = call {
                    call.extent(side).miss(bytes);
                }
                self.body_taken(side, header, left - bytes as u32, id, calls, cursor);
            }
            Reading::Control(left) if u64::from(left) > bytes => {
                self.sides[side].reading = Reading::Control(left - bytes as u32);
            }
            _ => self.desynchronize(side, calls, cursor),
        }
    }

    fn desynchronize<E: ExchangeObserver>(
        &mut self,
        side: usize,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = &mut self.sides[side];
        own.reading = Reading::Lost;
        own.partial.clear();
        own.continued = None;
        cursor.release_all(Kind::Unknown, None);
        calls.lose_track(cursor.listener);
        calls.abandon_all(cursor.listener);
        self.is_ambiguous = true;
    }
}

fn begins_message(input: &[u8]) -> bool {
    let header = input.first_chunk().map(MessageHeader::parse);
    matches!(header, Some(Ok(_)))
}

/// What the beginning of a message's content states.
#[derive(Debug)]
enum MessageStart {
    Request(RequestHead),
    Reply(ReplyHead),
    /// More of a message; since GIOP 1.2 with the number of that message.
    Fragment(Option<u32>),
    /// It cannot be read: all of it counts as header.
    Nothing(usize),
}

impl MessageStart {
    /// None when it is not whole yet.
    fn read(header: &MessageHeader, content: &[u8]) -> Option<MessageStart> {
        let MessageHeader { version, order, .. } = *header;
        match header.kind {
            MessageKind::Request => {
                let head = passive::request(version, order, content).ok()?;
                Some(MessageStart::Request(head))
            }
            MessageKind::Reply => {
                let head = passive::reply(version, order, content).ok()?;
                Some(MessageStart::Reply(head))
            }
            _ if version < Version::V12 => Some(MessageStart::Fragment(None)),
            _ => {
                let raw = *content.first_chunk()?;
                Some(MessageStart::Fragment(Some(match order {
                    ByteOrder::Big => u32::from_be_bytes(raw),
                    ByteOrder::Little => u32::from_le_bytes(raw),
                })))
            }
        }
    }

    /// Bytes of the content that are not arguments.
    fn bytes(&self) -> usize {
        match self {
            MessageStart::Request(head) => head.bytes,
            MessageStart::Reply(head) => head.bytes,
            MessageStart::Fragment(id) => id.map_or(0, |_| 4),
            MessageStart::Nothing(bytes) => *bytes,
        }
    }
}
