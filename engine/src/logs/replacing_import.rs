//! Appends imports that replace a sheet. Formulas of other sheets, and names, that refer to the replaced
//! sheet refer to the imported one afterwards.

use cellar_base::limits::MAX_RESOLVE_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::append::{Appended, ImportRequest, Refusal, Request};
use cellar_log::transform::transform;
use cellar_sheet::a1::{Rectangle, SheetArea};
use cellar_sheet::operation::{ImportSheet, Operation};
use cellar_sheet::workbook::{ReversalReport, Workbook, references_to_import};

use super::lost_references::{LostReferences, RestoringOperations};
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
        let Some(import) = self.import_at(request, import, head).await? else {
            return Ok(Resolved::nothing(head));
        };
        let Some(replaced) = import.replaces else { return Ok(Resolved::nothing(head)) };
        let mut view = self.open_view(log_id, Some(head), None).await?;
        let mut before = Workbook::from_metadata(&view.metadata);
        let areas = [SheetArea { sheet: replaced, cells: Rectangle::EVERYTHING }];
        let found = match view.add_formulas_that_refer_to(&areas, &mut before).await {
            // The import is needed more than its references.
            Err(error @ LogError::Snapshot(_)) => {
                tracing::warn!(%log_id, %error, "formulas that refer to a replaced sheet cannot be read");
                LostReferences::Incomplete
            }
            found => found?,
        };
        let reversal = references_to_import(&before, &import);
        let report = reversal.report;
        let mut operations = RestoringOperations::default();
        operations.add(reversal);
        Ok(operations.resolve_import(head, import, report, found))
    }

    /// Returns the import as it would be committed after `head`, or `None` if it would be rejected.
    async fn import_at(
        &self,
        request: &Request,
        ImportRequest { base, import, .. }: ImportRequest<'_>,
        head: Position,
    ) -> Result<Option<ImportSheet>, LogError> {
        if base >= head {
            return Ok(Some(import.clone()));
        }
        let viewpoint = self.viewpoint_at(request.log(), request.client(), base, head).await?;
        let Ok(map) = viewpoint.map_from(base) else { return Ok(None) };
        let transformed = transform(&Operation::ImportSheet(import.clone()), &map);
        Ok(match transformed.map(|operations| operations.into_iter().next()) {
            None => Some(import.clone()),
            Some(Some(Operation::ImportSheet(transformed))) => Some(transformed),
            Some(_) => None,
        })
    }
}
