//! Csv import in two passes. The first pass, the survey, detects the column types, and the second
//! pass creates the cells.

use super::cells::{CellReader, NextCells};
use super::options::CsvOptions;
use super::records::{Records, Syntax};
use super::survey::{Survey, SurveyState, Surveyor, Tally};
use crate::{Import, ImportProgress, ImportStep, ReadError, SheetStart, Source};

const MAX_SURVEY_STEP_BYTES: u64 = 1024 * 1024;

/// An import of a csv file.
#[derive(Debug)]
pub struct CsvImport<S: Source> {
    source: S,
    options: CsvOptions,
    file_bytes: u64,
    survey: Option<Survey>,
    pass: Pass<S::Stream>,
}

#[derive(Debug)]
enum Pass<R> {
    /// Detects column types from the first `sample_bytes` of the file, or from the whole file.
    SurveySample {
        surveyor: Surveyor<R>,
        sample_bytes: u64,
    },
    /// Creates cells with the column types detected in the sample. The pass is aborted if a field
    /// contradicts these types.
    SampledCells(CellReader<R>),
    /// Detects column types from the rest of the file, because a field contradicted the types
    /// detected in the sample.
    SurveyRemaining(Surveyor<R>),
    /// Creates cells with the column types detected in the whole file.
    FinalCells(CellReader<R>),
    Done,
}

impl<S: Source> CsvImport<S> {
    /// Opens a csv file.
    ///
    /// # Errors
    /// Returns a [`ReadError`] if the file cannot be opened, or if its first bytes indicate another
    /// format.
    pub fn open(source: S, options: &CsvOptions) -> Result<Self, ReadError> {
        let file_bytes = source.bytes()?;
        let records = Records::open(source.open()?, options)?;
        let Syntax { delimiter, encoding } = records.syntax();
        // The second pass reads the file like the first.
        let options =
            &CsvOptions { delimiter: Some(delimiter), encoding: Some(encoding), ..options.clone() };
        let surveyor = Surveyor { records, tally: Tally::new(options) };
        let sample_bytes = options.sample_bytes.unwrap_or(u64::MAX);
        let pass = Pass::SurveySample { surveyor, sample_bytes };
        Ok(Self { source, options: options.clone(), file_bytes, survey: None, pass })
    }

    /// Returns the size and the column types of the file, or `None` if the file has not been read
    /// to its end yet.
    #[must_use]
    pub fn survey(&self) -> Option<&Survey> {
        self.survey.as_ref()
    }

    fn open_cell_reader(&self, tally: &Tally) -> Result<CellReader<S::Stream>, ReadError> {
        let records = Records::open(self.source.open()?, &self.options)?;
        Ok(CellReader::new(records, tally.for_next_pass(), self.options.block))
    }

    fn start_final_cells(&mut self, surveyor: &Surveyor<S::Stream>) -> Result<(), ReadError> {
        let Surveyor { records, tally } = surveyor;
        self.survey = Some(tally.to_survey(records.syntax())?);
        self.pass = Pass::FinalCells(self.open_cell_reader(tally)?);
        Ok(())
    }

    fn survey_sample(
        &mut self,
        mut surveyor: Surveyor<S::Stream>,
        sample_bytes: u64,
    ) -> Result<ImportStep, ReadError> {
        let sheet_start = ImportStep::Sheet(SheetStart { name: None, hidden: false });
        let remaining_bytes = sample_bytes.saturating_sub(surveyor.records.bytes());
        if remaining_bytes == 0 {
            self.pass = Pass::SampledCells(self.open_cell_reader(&surveyor.tally)?);
            return Ok(sheet_start);
        }
        match surveyor.survey_bytes(remaining_bytes.min(MAX_SURVEY_STEP_BYTES))? {
            SurveyState::EndOfFile => {
                self.start_final_cells(&surveyor)?;
                Ok(sheet_start)
            }
            SurveyState::Unfinished => {
                self.pass = Pass::SurveySample { surveyor, sample_bytes };
                Ok(ImportStep::Working)
            }
        }
    }

    fn next_sampled_cells(
        &mut self,
        mut cells: CellReader<S::Stream>,
    ) -> Result<Option<ImportStep>, ReadError> {
        match cells.next_cells()? {
            NextCells::Block(block) => {
                self.pass = Pass::SampledCells(cells);
                Ok(Some(ImportStep::Block(block)))
            }
            NextCells::End(survey) => {
                self.survey = Some(survey);
                Ok(None)
            }
            NextCells::TypesChanged => {
                let CellReader { records, tally, .. } = cells;
                self.pass = Pass::SurveyRemaining(Surveyor { records, tally });
                Ok(Some(ImportStep::Restart))
            }
        }
    }

    fn survey_remaining_records(
        &mut self,
        mut surveyor: Surveyor<S::Stream>,
    ) -> Result<ImportStep, ReadError> {
        match surveyor.survey_bytes(MAX_SURVEY_STEP_BYTES)? {
            SurveyState::EndOfFile => self.start_final_cells(&surveyor)?,
            SurveyState::Unfinished => self.pass = Pass::SurveyRemaining(surveyor),
        }
        Ok(ImportStep::Working)
    }

    fn next_final_cells(
        &mut self,
        mut cells: CellReader<S::Stream>,
    ) -> Result<Option<ImportStep>, ReadError> {
        match cells.next_cells()? {
            NextCells::Block(block) => {
                self.pass = Pass::FinalCells(cells);
                Ok(Some(ImportStep::Block(block)))
            }
            NextCells::End(survey) if self.survey.as_ref() == Some(&survey) => Ok(None),
            // The two passes read different contents, so the file has changed in the meantime.
            NextCells::End(_) | NextCells::TypesChanged => Err(ReadError::Changed),
        }
    }
}

impl<S: Source> Import for CsvImport<S> {
    fn next_step(&mut self) -> Result<Option<ImportStep>, ReadError> {
        match std::mem::replace(&mut self.pass, Pass::Done) {
            Pass::SurveySample { surveyor, sample_bytes } => {
                self.survey_sample(surveyor, sample_bytes).map(Some)
            }
            Pass::SampledCells(cells) => self.next_sampled_cells(cells),
            Pass::SurveyRemaining(surveyor) => self.survey_remaining_records(surveyor).map(Some),
            Pass::FinalCells(cells) => self.next_final_cells(cells),
            Pass::Done => Ok(None),
        }
    }

    fn set_block_cells(&mut self, cells: usize) {
        self.options.block.cells = cells;
        if let Pass::SampledCells(reader) | Pass::FinalCells(reader) = &mut self.pass {
            reader.set_block_cells(cells);
        }
    }

    /// The bytes of the sample do not count, because they are read again to create the cells.
    fn progress(&self) -> ImportProgress {
        let one_pass = self.file_bytes;
        let two_passes = self.file_bytes.saturating_mul(2);
        let is_sampled =
            self.options.sample_bytes.is_some_and(|sample_bytes| sample_bytes < one_pass);
        match &self.pass {
            Pass::SurveySample { .. } if is_sampled => ImportProgress { done: 0, total: one_pass },
            Pass::SurveySample { surveyor, .. } | Pass::SurveyRemaining(surveyor) => {
                ImportProgress { done: surveyor.records.file_bytes(), total: two_passes }
            }
            Pass::SampledCells(cells) => {
                ImportProgress { done: cells.records.file_bytes(), total: one_pass }
            }
            Pass::FinalCells(cells) => {
                let done = one_pass.saturating_add(cells.records.file_bytes());
                ImportProgress { done, total: two_passes }
            }
            Pass::Done => ImportProgress { done: two_passes, total: two_passes },
        }
    }
}
