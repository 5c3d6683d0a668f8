//! Binary search for the last of several numbered items for which a condition holds.

/// A binary search among the items `0..=last`. The condition must hold for item 0. If there is an
/// item up to which the condition holds and after which it does not, the search finds this item.
/// Otherwise, it finds the last item, or any item for which the condition holds but does not hold
/// for the next item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bisection {
    /// Last item for which the condition is known to hold.
    holds: u32,
    /// Last item that may be the result.
    last: u32,
}

impl Bisection {
    /// Starts a search among the items `0..=last`.
    #[must_use]
    pub fn up_to(last: u32) -> Self {
        Self { holds: 0, last }
    }

    /// Returns the last item that may be the result.
    #[must_use]
    pub fn last(self) -> u32 {
        self.last
    }

    /// Returns how many items may be the result, not counting the last one for which the condition
    /// is known to hold.
    #[must_use]
    pub fn undecided(self) -> u32 {
        self.last.saturating_sub(self.holds)
    }

    /// Returns the next item to probe, or `None` if the search is complete. The result is then
    /// [`Bisection::last`].
    #[must_use]
    pub fn next_probe(self) -> Option<u32> {
        let distance = self.undecided().div_ceil(2);
        if distance == 0 { None } else { self.holds.checked_add(distance) }
    }

    /// Returns the search after a probe has shown whether the condition holds for `item`.
    #[must_use]
    pub fn after_probe(self, item: u32, holds: bool) -> Self {
        if holds {
            Self { holds: item, ..self }
        } else {
            Self { last: item.saturating_sub(1).max(self.holds), ..self }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the result and the number of probes.
    fn search(last: u32, holds: impl Fn(u32) -> bool) -> (u32, u32) {
        let (mut bisection, mut probes) = (Bisection::up_to(last), 0);
        while let Some(item) = bisection.next_probe() {
            bisection = bisection.after_probe(item, holds(item));
            probes += 1;
        }
        (bisection.last(), probes)
    }

    proptest! {
        #[test]
        fn finds_the_last_item_with_few_probes(result: u32, more: u32) {
            let last = result.saturating_add(more);
            let (found, probes) = search(last, |item| item <= result);
            prop_assert_eq!(found, result);
            prop_assert!(probes <= 32, "{} probes", probes);
        }

        #[test]
        fn without_an_order_the_result_is_a_boundary(
            items in proptest::collection::vec(any::<bool>(), 1..50),
        ) {
            let holds = |item: u32| {
                item == 0 || items.get(usize::try_from(item).unwrap()).copied().unwrap_or(false)
            };
            let (found, _) = search(u32::try_from(items.len() - 1).unwrap(), holds);
            prop_assert!(holds(found) && !holds(found + 1));
        }
    }
}
