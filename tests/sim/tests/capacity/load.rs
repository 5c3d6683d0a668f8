//! A load of a region.

use std::sync::Arc;

use tokio::time::sleep_until;

use super::editors::{Editor, Habits, Sheet};
use super::limits::Limits;
use super::outcome::{FeedUnits, Outcome};
use super::region::Region;

#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) sheets: usize,
    pub(super) editors_per_sheet: u32,
    pub(super) habits: Habits,
    pub(super) limits: Limits,
}

impl Load {
    /// Returns the load with a measurement of five seconds.
    pub(super) fn shortened(mut self) -> Self {
        self.habits.measured_from_s = 5.0;
        self.habits.for_s = 10.0;
        self
    }

    /// Returns a load of a tenth of the sheets, with a tenth of each limit. Snapshots are as frequent
    /// as with all sheets, because the limit of their jobs stays the same.
    pub(super) fn to_a_tenth(mut self) -> Self {
        let limits = &mut self.limits;
        self.sheets /= 10;
        limits.functions /= 10;
        limits.partition_writes /= 10;
        limits.partition_reads /= 10;
        limits.snapshot_entries /= 10;
        self
    }

    /// Runs the load in simulated time.
    pub(super) fn run(self) -> Outcome {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(self.run_in_simulated_time())
    }

    async fn run_in_simulated_time(self) -> Outcome {
        let region = Region::with_sheets(self.limits, self.sheets).await;
        region.start_indexers();
        let mut random = fastrand::Rng::with_seed(3);
        let mut editors = Vec::new();
        for id in &region.sheets {
            let snapshot_after = random.u32(1..=self.limits.snapshot_entries).into();
            let sheet = Arc::new(Sheet { id: *id, snapshot_after });
            for _ in 0..self.editors_per_sheet {
                let number = u32::try_from(editors.len()).unwrap();
                let editor = Editor::new(&region, &sheet, number, self.habits);
                editors.push(tokio::spawn(editor.run()));
            }
        }
        sleep_until(region.moment(self.habits.measured_from_s)).await;
        region.begin_measuring();
        let feed_before = FeedUnits::of(&region);
        sleep_until(region.moment(self.habits.for_s)).await;
        let mut outcome = Outcome::of(self, &region, feed_before);
        for editor in editors {
            outcome.add_editor(editor.await.unwrap());
        }
        outcome.sort_latencies();
        outcome
    }
}
