//! Keeps the calculations of the latest reads, so that the next read of the same state finds their
//! results.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_KEPT_CALCULATION_BYTES, MAX_KEPT_CALCULATIONS};
use cellar_base::position::Position;
use cellar_calculation::KeptCalculation;

/// The state that a calculation belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CalculationKey {
    pub(super) log: LogId,
    pub(super) position: Position,
    pub(super) incarnation: u32,
    /// Position of the snapshot that the state was read from. A calculation does not calculate the
    /// formulas whose stored values are valid, and these differ between snapshots.
    pub(super) root: Option<Position>,
}

/// The calculations of the latest reads, oldest first.
#[derive(Debug, Default)]
pub(super) struct KeptCalculations {
    kept: Mutex<VecDeque<(CalculationKey, KeptCalculation)>>,
}

impl KeptCalculations {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(CalculationKey, KeptCalculation)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a read with the kept calculation, if there is one. Until the read ends, other reads of
    /// the same state begin without it.
    pub(super) fn take(self: &Arc<Self>, key: CalculationKey) -> ViewCalculation {
        let mut kept = self.lock();
        let index = kept.iter().position(|(kept_key, _)| *kept_key == key);
        let calculation = index.and_then(|index| kept.remove(index));
        let calculation = calculation.map(|(_, calculation)| calculation).unwrap_or_default();
        ViewCalculation { calculation, keeper: Some((Arc::clone(self), key)) }
    }

    fn keep(&self, key: CalculationKey, calculation: KeptCalculation) {
        let Some(calculation) = calculation.with_results_only(MAX_KEPT_CALCULATION_BYTES) else {
            return;
        };
        let mut kept = self.lock();
        kept.retain(|(kept_key, _)| *kept_key != key);
        kept.push_back((key, calculation));
        if kept.len() > MAX_KEPT_CALCULATIONS {
            kept.pop_front();
        }
    }
}

/// The calculation of a view, which is kept when the view is dropped.
#[derive(Debug, Default)]
pub(super) struct ViewCalculation {
    calculation: KeptCalculation,
    keeper: Option<(Arc<KeptCalculations>, CalculationKey)>,
}

impl Deref for ViewCalculation {
    type Target = KeptCalculation;

    fn deref(&self) -> &KeptCalculation {
        &self.calculation
    }
}

impl DerefMut for ViewCalculation {
    fn deref_mut(&mut self) -> &mut KeptCalculation {
        &mut self.calculation
    }
}

impl Drop for ViewCalculation {
    fn drop(&mut self) {
        if let Some((keeper, key)) = self.keeper.take() {
            keeper.keep(key, std::mem::take(&mut self.calculation));
        }
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::SubjectKey;
    use cellar_calculation::{CalculatedWorkbook, Calculation};
    use cellar_sheet::metadata::WorkbookMetadata;
    use cellar_snapshot::outdated::OutdatedAreas;

    use super::*;

    fn key(number: usize) -> CalculationKey {
        let subject = SubjectKey::new("test", "calculations");
        let log = LogId::derive(&subject, &number.to_string()).unwrap();
        CalculationKey { log, position: Position::FIRST, incarnation: 0, root: None }
    }

    fn started() -> KeptCalculation {
        let workbook = CalculatedWorkbook::new(&WorkbookMetadata::default(), 0, 0);
        let calculation = Calculation::new(workbook, OutdatedAreas::everything());
        KeptCalculation::Started(Box::new(calculation))
    }

    fn is_kept(calculations: &Arc<KeptCalculations>, key: CalculationKey) -> bool {
        matches!(*calculations.take(key), KeptCalculation::Started(_))
    }

    #[test]
    fn keeps_a_bounded_number_of_calculations() {
        let calculations = Arc::new(KeptCalculations::default());
        for number in 0..MAX_KEPT_CALCULATIONS {
            *calculations.take(key(number)) = started();
        }
        // This read makes the calculation the newest one.
        assert!(is_kept(&calculations, key(0)));
        *calculations.take(key(MAX_KEPT_CALCULATIONS)) = started();
        assert_eq!(calculations.lock().len(), MAX_KEPT_CALCULATIONS);
        assert!(is_kept(&calculations, key(0)));
        assert!(!is_kept(&calculations, key(1)));
    }

    #[test]
    fn each_state_has_its_own_calculation() {
        let calculations = Arc::new(KeptCalculations::default());
        let read = key(0);
        *calculations.take(read) = started();
        for other in [
            key(1),
            CalculationKey { position: Position::new(0, 1).unwrap(), ..read },
            CalculationKey { incarnation: 1, ..read },
            CalculationKey { root: Some(Position::FIRST), ..read },
        ] {
            assert!(!is_kept(&calculations, other), "{other:?}");
        }
        assert!(is_kept(&calculations, read));
    }

    #[test]
    fn reads_at_the_same_time_do_not_share_a_calculation() {
        let calculations = Arc::new(KeptCalculations::default());
        *calculations.take(key(0)) = started();
        let first = calculations.take(key(0));
        assert!(!is_kept(&calculations, key(0)));
        drop(first);
        assert!(is_kept(&calculations, key(0)));
    }
}
