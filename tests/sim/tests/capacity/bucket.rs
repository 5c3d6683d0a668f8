//! A token bucket, which limits a rate.

/// Gains `per_s` tokens a second, up to `capacity`.
pub(super) struct Bucket {
    per_s: f64,
    capacity: f64,
    level: f64,
    filled_s: f64,
}

impl Bucket {
    /// Creates a full bucket that holds the tokens of one second.
    pub(super) fn of_one_second(per_s: u32) -> Self {
        Self::new(f64::from(per_s), f64::from(per_s))
    }

    pub(super) fn new(per_s: f64, capacity: f64) -> Self {
        Self { per_s, capacity, level: capacity, filled_s: 0.0 }
    }

    /// Takes tokens, or returns `false` if there are too few.
    pub(super) fn take(&mut self, now_s: f64, amount: f64) -> bool {
        let gained = (now_s - self.filled_s) * self.per_s;
        self.level = (self.level + gained).min(self.capacity);
        self.filled_s = now_s;
        let is_enough = self.level >= amount;
        if is_enough {
            self.level -= amount;
        }
        is_enough
    }
}

#[test]
fn a_bucket_admits_its_rate_and_no_more_than_its_capacity_at_once() {
    let mut bucket = Bucket::new(10.0, 5.0);
    assert!((0..5).all(|_| bucket.take(0.0, 1.0)) && !bucket.take(0.0, 1.0));
    assert!(bucket.take(0.1, 1.0) && !bucket.take(0.1, 1.0));
    assert!(bucket.take(60.0, 5.0) && !bucket.take(60.0, 0.5), "unused tokens expire");
}
