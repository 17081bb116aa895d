//! The items of Feed and Chat as they are sent: each not before it is due.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Stream;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::{Instant, Sleep, sleep_until};
use wirelab_contract::ApplicationError;
use wirelab_contract::stream::{FeedRequest, Item};
use wirelab_contract::streams::{Due, Schedule, TEXT_BYTES_MAX};
use wirelab_stack::Flush;

use crate::metrics::Metrics;

/// An item that is sent later than this after it was due counts as late (contracts/README.md,
/// stream).
const LATE_NS: u64 = 10_000_000;

/// Bytes of a client's item at most, as it is on the wire: a text in which JSON escapes every
/// character by six, and some room (contracts/README.md, stream).
pub(crate) const ITEM_BYTES_MAX: usize = 6 * TEXT_BYTES_MAX as usize + 1024;

/// CLOCK_MONOTONIC in nanoseconds: the clock of the engine, if that is on the same machine.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Both are never negative on this clock.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// The items of one feed.
///
/// Nothing is stored: an item is made when the library asks for it, which a reader that is slow
/// delays. The schedule stays as it is, so that items that are already due follow at once.
#[derive(Debug)]
pub(crate) struct Feed {
    items: Schedule,
    /// The same, for texts.
    texts: Schedule,
    /// The next item, while it is not yet sent.
    next: Option<Due>,
    received_ns: u64,
    received: Instant,
    sleep: Pin<Box<Sleep>>,
    metrics: Arc<Metrics>,
}

impl Feed {
    /// The feed that a request asks for, which was received now.
    ///
    /// # Errors
    /// The error that the contract demands.
    pub(crate) fn new(
        request: &FeedRequest,
        metrics: &Arc<Metrics>,
    ) -> Result<Feed, ApplicationError> {
        let received_ns = now_ns();
        // Read after it, so that no item is sent before it is due.
        let received = Instant::now();
        let mut items = Schedule::of(request)?;
        let texts = items.clone();
        Ok(Feed {
            next: items.next(),
            items,
            texts,
            received_ns,
            received,
            sleep: Box::pin(sleep_until(received)),
            metrics: Arc::clone(metrics),
        })
    }

    /// The item, sent now.
    fn send(&self, due: Due) -> Item {
        let text = self.texts.text(due.index);
        let is_first = due.index == 0;
        let sent_ns = now_ns();
        let late_ns = sent_ns - self.received_ns - due.due_ns;
        self.metrics.item_sent(late_ns > LATE_NS);
        Item {
            index: due.index,
            // An hour and some pauses at most.
            due_ns: due.due_ns as i64,
            sent_ns: sent_ns as i64,
            received_ns: if is_first { self.received_ns as i64 } else { 0 },
            text,
        }
    }
}

impl Stream for Feed {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        let this = &mut *self;
        let Some(due) = this.next else {
            return Poll::Ready(None);
        };
        let at = this.received + Duration::from_nanos(due.due_ns);
        if Instant::now() < at {
            this.sleep.as_mut().reset(at);
            ready!(this.sleep.as_mut().poll(context));
        }
        this.next = this.items.next();
        Poll::Ready(Some(this.send(due)))
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        if self.next.is_some() {
            self.metrics.stream_cancelled();
        }
    }
}

/// Items for the body of a reply, sent as the axis `flush` says.
///
/// hyper puts together all that a body has ready, and writes it out when the body has nothing more
/// for now. With `flush=item` there is nothing more for now after every item.
#[derive(Debug)]
pub(crate) struct SentItems<S> {
    items: S,
    is_alone: bool,
    /// An item was given since the library last waited.
    has_given: bool,
}

impl<S> SentItems<S> {
    /// Items of a stream.
    pub(crate) fn new(items: S, flush: Flush) -> Self {
        SentItems {
            items,
            is_alone: flush == Flush::Item,
            has_given: false,
        }
    }
}

impl<S: Stream<Item = Item> + Unpin> Stream for SentItems<S> {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        if self.is_alone && std::mem::take(&mut self.has_given) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = ready!(Pin::new(&mut self.items).poll_next(context));
        self.has_given = next.is_some();
        Poll::Ready(next)
    }
}

/// The answer to an item of a client, sent now.
pub(crate) fn answer(item: Item, received_ns: u64, metrics: &Metrics) -> Item {
    metrics.item_sent(false);
    Item {
        index: item.index,
        due_ns: 0,
        sent_ns: now_ns() as i64,
        received_ns: received_ns as i64,
        text: item.text,
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use wirelab_contract::Contract;
    use wirelab_contract::streams::sample;

    use super::*;

    fn metrics() -> Arc<Metrics> {
        let metrics = Metrics::new(Contract::Stream);
        metrics.open();
        Arc::new(metrics)
    }

    async fn next(feed: &mut Feed) -> Option<Item> {
        poll_fn(|context| Pin::new(&mut *feed).poll_next(context)).await
    }

    #[tokio::test]
    async fn items_are_not_sent_before_they_are_due() {
        let mut feed = Feed::new(&sample(8), &metrics()).unwrap();
        let (mut received_ns, mut count) = (0, 0);
        while let Some(item) = next(&mut feed).await {
            if item.index == 0 {
                received_ns = item.received_ns;
            }
            assert!(item.sent_ns >= received_ns + item.due_ns, "{item:?}");
            assert!(item.sent_ns <= now_ns() as i64);
            assert_eq!(item.received_ns == 0, item.index > 0);
            count += 1;
        }
        assert_eq!(count, sample(8).count);
    }

    #[tokio::test]
    async fn a_slow_reader_delays_items_and_not_the_schedule() {
        let mut feed = Feed::new(&sample(0), &metrics()).unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
        let mut items = Vec::new();
        while let Some(item) = next(&mut feed).await {
            items.push(item);
        }
        let received_ns = items[0].received_ns;
        assert!(items[0].sent_ns - received_ns >= 30_000_000);
        // All were due by then, and none waits again.
        let dues: Vec<i64> = items.iter().map(|item| item.due_ns).collect();
        assert_eq!(dues, (0..10).map(|i| i * 1_000_000).collect::<Vec<_>>());
    }

    /// How many items are ready in a row, up to the next wait.
    async fn runs(flush: Flush) -> Vec<usize> {
        let request = FeedRequest {
            gap_us: 0,
            ..sample(4)
        };
        let feed = Feed::new(&request, &metrics()).unwrap();
        let mut items = SentItems::new(feed, flush);
        let mut runs = vec![0];
        poll_fn(|context| {
            loop {
                match Pin::new(&mut items).poll_next(context) {
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Ready(Some(_)) => *runs.last_mut().unwrap() += 1,
                    Poll::Pending => {
                        runs.push(0);
                        return Poll::Pending;
                    }
                }
            }
        })
        .await;
        runs
    }

    #[tokio::test]
    async fn an_item_is_alone_where_each_is_flushed() {
        let mut alone = vec![1; 10];
        alone.push(0);
        assert_eq!(runs(Flush::Item).await, alone);
        assert_eq!(runs(Flush::Library).await, [10]);
    }

    #[tokio::test]
    async fn a_stream_that_is_dropped_early_is_counted_as_cancelled() {
        let metrics = metrics();
        let mut feed = Feed::new(&sample(0), &metrics).unwrap();
        next(&mut feed).await;
        drop(feed);
        assert_eq!(metrics.streams_cancelled(), 1);
        let mut whole = Feed::new(&sample(0), &metrics).unwrap();
        while next(&mut whole).await.is_some() {}
        drop(whole);
        assert_eq!(metrics.streams_cancelled(), 1);
    }
}
