//! What a port has consumed: the cost of every operation is a fact (design `5-quality.md` §3).

use std::sync::{Mutex, PoisonError};

/// What was consumed since the meter was made or last taken.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Consumed {
    /// Read request units (one strongly consistent read of up to 4 KB).
    pub read_units: f64,
    /// Write request units (one write of up to 1 KB).
    pub write_units: f64,
    /// Requests sent to tables.
    pub requests: u64,
    /// Objects written: PUT and LIST requests are billed alike.
    pub object_puts: u64,
    /// Objects read: GET and HEAD requests.
    pub object_gets: u64,
    /// Requests for tags of objects, billed like a GET (read) or PUT (written); these are the
    /// written and removed ones.
    pub object_tags: u64,
    /// Objects deleted: free, but a request.
    pub object_deletes: u64,
    /// Bytes of objects written.
    pub object_bytes_sent: u64,
    /// Bytes of objects read.
    pub object_bytes_received: u64,
    /// Requests sent to queues.
    pub queue_requests: u64,
}

/// A request to the object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectRequest {
    /// PUT or LIST.
    Put,
    /// GET or HEAD.
    Get,
    /// Writes or removes tags.
    Tag,
    /// DELETE.
    Delete,
}

/// Adds up what requests consume. Shared by the adapters of one process.
#[derive(Debug, Default)]
pub struct Meter {
    consumed: Mutex<Consumed>,
}

impl Meter {
    /// Counts a request to a table that consumed this many units.
    pub fn count(&self, read_units: f64, write_units: f64) {
        self.add(|consumed| {
            consumed.read_units += read_units;
            consumed.write_units += write_units;
            consumed.requests += 1;
        });
    }

    /// Counts a request to the object store that carried an object of so many bytes, in or out.
    pub fn count_object(&self, request: ObjectRequest, bytes: u64) {
        self.add(|consumed| match request {
            ObjectRequest::Put => {
                consumed.object_puts += 1;
                consumed.object_bytes_sent += bytes;
            }
            ObjectRequest::Get => {
                consumed.object_gets += 1;
                consumed.object_bytes_received += bytes;
            }
            ObjectRequest::Tag => consumed.object_tags += 1,
            ObjectRequest::Delete => consumed.object_deletes += 1,
        });
    }

    /// Counts bytes of an object whose request is counted already: how many come shows only when
    /// they are read.
    pub fn add_object_bytes_received(&self, bytes: u64) {
        self.add(|consumed| consumed.object_bytes_received += bytes);
    }

    /// Counts a request to a queue.
    pub fn count_queue(&self) {
        self.add(|consumed| consumed.queue_requests += 1);
    }

    /// What was consumed since the last call.
    #[must_use]
    pub fn take(&self) -> Consumed {
        std::mem::take(&mut *self.consumed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, count: impl FnOnce(&mut Consumed)) {
        count(&mut self.consumed.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_starts_anew() {
        let meter = Meter::default();
        meter.count(0.5, 0.0);
        meter.count(0.0, 4.0);
        meter.count_object(ObjectRequest::Put, 7);
        meter.count_object(ObjectRequest::Get, 0);
        meter.add_object_bytes_received(9);
        meter.count_queue();
        let tables =
            Consumed { read_units: 0.5, write_units: 4.0, requests: 2, ..Consumed::default() };
        let objects = Consumed { object_puts: 1, object_gets: 1, object_bytes_sent: 7, ..tables };
        let all = Consumed { object_bytes_received: 9, queue_requests: 1, ..objects };
        assert_eq!(meter.take(), all);
        assert_eq!(meter.take(), Consumed::default());
    }
}
