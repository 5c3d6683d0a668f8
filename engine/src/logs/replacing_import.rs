//! Appends imports that replace a sheet. Formulas of other sheets, and names, that refer to the replaced
//! sheet refer to the imported one afterwards.

use cellar_base::limits::MAX_RESOLVE_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::append::{Appended, ImportRequest, Refusal, Request};
use cellar_sheet::a1::{Rectangle, SheetArea};
use cellar_sheet::operation::Operation;
use cellar_sheet::workbook::{ReversalReport, Workbook, references_to_import};

use super::lost_references::RestoringOperations;
use super::resolve::{Resolved, with_report};
use super::{LogError, Logs};

impl Logs {
    /// If another entry is appended first, the references are read again.
    pub(super) async fn append_replacing_import(
        &self,
        request: &Request,
        import: ImportRequest<'_>,
    ) -> Result<Appended, LogError> {
        // Nothing refers to the blank sheet of a new spreadsheet.
        if import.base == Position::FIRST {
            return self.append_unchecked(request.clone()).await;
        }
        let mut min_position = import.base;
        for _ in 0..MAX_RESOLVE_ATTEMPTS {
            let resolved = self.resolve_import(request, import, min_position).await?;
            let Resolved { resolution, report } = resolved;
            match self.append_unchecked(request.clone().with_resolution(resolution)).await {
                Err(LogError::Refused(Refusal::StaleResolution { newest })) => {
                    min_position = newest;
                }
                appended if report == ReversalReport::default() => return appended,
                appended => return Ok(with_report(appended?, report)),
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    /// Returns the operations that let references follow the import.
    async fn resolve_import(
        &self,
        request: &Request,
        import: ImportRequest<'_>,
        min_position: Position,
    ) -> Result<Resolved, LogError> {
        let log_id = request.log();
        let head = self.head(log_id, Some(min_position)).await?.head;
        let (positions, authored) =
            ((import.base, head), Operation::ImportSheet(import.import.clone()));
        let committed = self.operation_at(log_id, request.client(), positions, authored).await?;
        let Some(Operation::ImportSheet(import)) = committed else {
            return Ok(Resolved::nothing(head));
        };
        let Some(replaced) = import.replaces else { return Ok(Resolved::nothing(head)) };
        let mut view = self.open_view(log_id, Some(head), None).await?;
        let mut before = Workbook::from_metadata(&view.metadata);
        let areas = [SheetArea { sheet: replaced, cells: Rectangle::EVERYTHING }];
        let found = view.add_formulas_that_lose_references(log_id, &areas, &mut before).await?;
        let reversal = references_to_import(&before, &import);
        let report = reversal.report;
        let mut operations = RestoringOperations::default();
        operations.add(reversal);
        Ok(operations.resolve_import(head, import, report, found))
    }
}
