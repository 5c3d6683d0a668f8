//! Csv import, which combines the survey pass and the cell pass.

use super::cells::{CellReader, NextCells};
use super::options::CsvOptions;
use super::records::Records;
use super::survey::{Survey, Surveyor, Tally};
use crate::{Import, ImportProgress, Piece, ReadError, SheetStart, Source};

/// Maximum number of bytes surveyed per call.
const STEP_BYTES: u64 = 1024 * 1024;

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
    /// Surveys the first `sample_bytes` of the file, or the whole file.
    Sample {
        surveyor: Surveyor<R>,
        sample_bytes: u64,
    },
    /// Creates cells with the column types detected in the sample, until a field contradicts these
    /// types.
    SampledCells(CellReader<R>),
    /// Surveys the rest of the file after a field contradicted the sampled types.
    Rest(Surveyor<R>),
    /// Creates cells with the column types detected in the whole file.
    Cells(CellReader<R>),
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
        let records = Records::new(source.open()?, options.delimiter)?;
        let surveyor = Surveyor { records, tally: Tally::new(options) };
        let sample_bytes = options.sample_bytes.unwrap_or(u64::MAX);
        let pass = Pass::Sample { surveyor, sample_bytes };
        Ok(Self { source, options: options.clone(), file_bytes, survey: None, pass })
    }

    /// Returns the survey of the file, or `None` if the file has not been read completely.
    #[must_use]
    pub fn survey(&self) -> Option<&Survey> {
        self.survey.as_ref()
    }

    /// Reopens the file and creates cells with the types from `tally`.
    fn open_cells(&self, tally: &Tally) -> Result<CellReader<S::Stream>, ReadError> {
        let records = Records::new(self.source.open()?, self.options.delimiter)?;
        Ok(CellReader::new(records, tally.restarted(), self.options.block))
    }

    /// Starts creating cells after the whole file has been surveyed.
    fn start_cells(&mut self, tally: &Tally) -> Result<(), ReadError> {
        self.survey = Some(tally.finish()?);
        self.pass = Pass::Cells(self.open_cells(tally)?);
        Ok(())
    }

    fn continue_sample(
        &mut self,
        mut surveyor: Surveyor<S::Stream>,
        sample_bytes: u64,
    ) -> Result<Piece, ReadError> {
        let remaining = sample_bytes.saturating_sub(surveyor.records.bytes());
        if remaining == 0 {
            self.pass = Pass::SampledCells(self.open_cells(&surveyor.tally)?);
        } else if surveyor.survey_bytes(remaining.min(STEP_BYTES))? {
            self.start_cells(&surveyor.tally)?;
        } else {
            self.pass = Pass::Sample { surveyor, sample_bytes };
            return Ok(Piece::Working);
        }
        Ok(Piece::Sheet(SheetStart { name: None, hidden: false }))
    }

    fn next_sampled_cells(
        &mut self,
        mut cells: CellReader<S::Stream>,
    ) -> Result<Option<Piece>, ReadError> {
        match cells.next()? {
            NextCells::Block(block) => {
                self.pass = Pass::SampledCells(cells);
                Ok(Some(Piece::Block(block)))
            }
            NextCells::End(survey) => {
                self.survey = Some(survey);
                Ok(None)
            }
            NextCells::TypesChanged => {
                let CellReader { records, tally, .. } = cells;
                self.pass = Pass::Rest(Surveyor { records, tally });
                Ok(Some(Piece::Restart))
            }
        }
    }

    fn survey_rest(&mut self, mut surveyor: Surveyor<S::Stream>) -> Result<Piece, ReadError> {
        if surveyor.survey_bytes(STEP_BYTES)? {
            self.start_cells(&surveyor.tally)?;
        } else {
            self.pass = Pass::Rest(surveyor);
        }
        Ok(Piece::Working)
    }

    fn next_cells(&mut self, mut cells: CellReader<S::Stream>) -> Result<Option<Piece>, ReadError> {
        match cells.next()? {
            NextCells::Block(block) => {
                self.pass = Pass::Cells(cells);
                Ok(Some(Piece::Block(block)))
            }
            NextCells::End(survey) if self.survey.as_ref() == Some(&survey) => Ok(None),
            // The two passes read different contents, so the file has changed.
            NextCells::End(_) | NextCells::TypesChanged => Err(ReadError::Changed),
        }
    }
}

impl<S: Source> Import for CsvImport<S> {
    fn next(&mut self) -> Result<Option<Piece>, ReadError> {
        match std::mem::replace(&mut self.pass, Pass::Done) {
            Pass::Sample { surveyor, sample_bytes } => {
                self.continue_sample(surveyor, sample_bytes).map(Some)
            }
            Pass::SampledCells(cells) => self.next_sampled_cells(cells),
            Pass::Rest(surveyor) => self.survey_rest(surveyor).map(Some),
            Pass::Cells(cells) => self.next_cells(cells),
            Pass::Done => Ok(None),
        }
    }

    /// Returns the import's progress. Sample bytes are not counted, because they are read again to
    /// create the cells.
    fn progress(&self) -> ImportProgress {
        let (one_pass, two_passes) = (self.file_bytes, self.file_bytes.saturating_mul(2));
        let has_sample = self.options.sample_bytes.is_some_and(|sample| sample < one_pass);
        match &self.pass {
            Pass::Sample { .. } if has_sample => ImportProgress { done: 0, total: one_pass },
            Pass::Sample { surveyor, .. } | Pass::Rest(surveyor) => {
                ImportProgress { done: surveyor.records.bytes(), total: two_passes }
            }
            Pass::SampledCells(cells) => {
                ImportProgress { done: cells.records.bytes(), total: one_pass }
            }
            Pass::Cells(cells) => {
                let done = one_pass.saturating_add(cells.records.bytes());
                ImportProgress { done, total: two_passes }
            }
            Pass::Done => ImportProgress { done: two_passes, total: two_passes },
        }
    }
}
