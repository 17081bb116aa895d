//! Requests with the values of rows, each made ready before the load.

use std::sync::Arc;

use wirelab_wire::Request;
use wirelab_wire::codec::Expected;

use crate::call::calls::Call;
use crate::call::reply::Due;
use crate::call::waiting::Numbers;
use crate::plan::RowPer;

/// Which row a call takes.
#[derive(Debug, Clone)]
pub(crate) struct RowPicker {
    per: RowPer,
    count: usize,
    next: usize,
    step: usize,
    /// Rows of calls that were not processed, which are taken first.
    returned: Vec<usize>,
}

impl RowPicker {
    /// For `count` rows, of which there is at least one.
    pub(crate) fn new(per: RowPer, count: usize) -> RowPicker {
        RowPicker {
            per,
            count,
            next: 0,
            step: 1,
            returned: Vec::new(),
        }
    }

    /// Takes this thread's share of the rows.
    pub(crate) fn number(&mut self, numbers: Numbers) {
        self.next = numbers.first as usize % self.count;
        self.step = numbers.step as usize % self.count;
    }

    #[inline]
    pub(crate) fn pick(&mut self, user: u32) -> usize {
        match self.per {
            RowPer::User => user as usize % self.count,
            RowPer::Call => {
                if let Some(row) = self.returned.pop() {
                    return row;
                }
                let row = self.next;
                self.next += self.step;
                if self.next >= self.count {
                    self.next -= self.count;
                }
                row
            }
        }
    }

    /// The row of a call that is made again.
    #[cold]
    pub(crate) fn give_back(&mut self, row: usize) {
        if matches!(self.per, RowPer::Call) {
            self.returned.push(row);
        }
    }
}

/// One request per row.
#[derive(Debug, Clone)]
pub(crate) struct RowRequests {
    /// Number of its step in its group.
    step: usize,
    rows: Arc<[RowRequest]>,
    picker: RowPicker,
}

/// A request, and what its reply must say.
#[derive(Debug)]
pub(crate) struct RowRequest {
    pub(crate) request: Arc<Request>,
    /// None: the same of all rows.
    pub(crate) expected: Option<Arc<Expected>>,
}

impl RowRequests {
    pub(crate) fn new(step: usize, rows: Arc<[RowRequest]>, picker: RowPicker) -> RowRequests {
        RowRequests { step, rows, picker }
    }

    pub(crate) fn number(&mut self, numbers: Numbers) {
        self.picker.number(numbers);
    }

    #[cold]
    pub(crate) fn take_back(&mut self, call: &Call) {
        self.picker.give_back(call.row);
    }

    #[inline]
    pub(crate) fn request(&mut self, call: &mut Call) -> &Arc<Request> {
        call.row = self.picker.pick(call.waiting.user);
        let row = &self.rows[call.row];
        call.step = self.step;
        if let Some(expected) = &row.expected {
            let varied = call.reply.varied.get_or_insert_default();
            varied.request = None;
            varied.expected = Some(Due::Shared(Arc::clone(expected)));
            varied.read = None;
        }
        &row.request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_the_rows_of_calls_and_begin_again_after_the_last() {
        let picks = |first, step| -> Vec<usize> {
            let mut picker = RowPicker::new(RowPer::Call, 5);
            picker.number(Numbers { first, step });
            (0..6).map(|_| picker.pick(0)).collect()
        };
        assert_eq!(picks(0, 1), [0, 1, 2, 3, 4, 0]);
        assert_eq!(picks(0, 2), [0, 2, 4, 1, 3, 0]);
        assert_eq!(picks(1, 2), [1, 3, 0, 2, 4, 1]);
        assert_eq!(picks(6, 7), [1, 3, 0, 2, 4, 1]);
    }

    #[test]
    fn the_row_of_a_call_that_is_made_again_is_the_next() {
        let mut picker = RowPicker::new(RowPer::Call, 5);
        assert_eq!([0; 3].map(|user| picker.pick(user)), [0, 1, 2]);
        picker.give_back(1);
        assert_eq!([0; 3].map(|user| picker.pick(user)), [1, 3, 4]);
    }

    #[test]
    fn a_user_keeps_its_row() {
        let mut picker = RowPicker::new(RowPer::User, 3);
        let picked: Vec<usize> = [0, 4, 4, 3, 0].map(|user| picker.pick(user)).into();
        assert_eq!(picked, [0, 1, 1, 0, 0]);
    }
}
