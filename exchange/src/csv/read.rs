//! The passes over a csv file, as one import.

use super::CsvOptions;
use super::cells::{Cells, Next};
use super::records::Records;
use super::survey::{Survey, Surveyor, Tally};
use crate::{Import, ImportProgress, Piece, ReadError, SheetStart, Source};

/// Bytes that one pull looks through where there are no cells yet.
const STEP_BYTES: u64 = 1024 * 1024;

/// A csv file that is being read.
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
    /// Looking at so many bytes for what the columns may be.
    Sample(Surveyor<R>, u64),
    /// Cells, as long as the columns are what they seem to be.
    Seeming(Cells<R>),
    /// They are not: looking at the rest of the file.
    Rest(Surveyor<R>),
    /// Cells of columns that are known.
    Known(Cells<R>),
    Done,
}

impl<S: Source> CsvImport<S> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`ReadError`] if it cannot be opened, or is something else by its first bytes.
    pub fn open(source: S, options: &CsvOptions) -> Result<Self, ReadError> {
        let file_bytes = source.bytes()?;
        let records = Records::new(source.open()?, options.delimiter)?;
        let surveyor = Surveyor { records, tally: Tally::new(options) };
        let pass = Pass::Sample(surveyor, options.sample_bytes.unwrap_or(u64::MAX));
        Ok(Self { source, options: options.clone(), file_bytes, survey: None, pass })
    }

    /// What the file is, once all of it was looked at.
    #[must_use]
    pub fn survey(&self) -> Option<&Survey> {
        self.survey.as_ref()
    }

    fn cells(&self, tally: &Tally) -> Result<Cells<S::Stream>, ReadError> {
        let records = Records::new(self.source.open()?, self.options.delimiter)?;
        Ok(Cells::new(records, tally.again(), self.options.block))
    }

    /// All was looked at: now the cells come.
    fn known(&mut self, tally: &Tally) -> Result<(), ReadError> {
        self.survey = Some(tally.finish()?);
        self.pass = Pass::Known(self.cells(tally)?);
        Ok(())
    }

    fn sample(
        &mut self,
        mut surveyor: Surveyor<S::Stream>,
        sample_bytes: u64,
    ) -> Result<Piece, ReadError> {
        let left = sample_bytes.saturating_sub(surveyor.records.bytes());
        if left > 0 {
            if !surveyor.step(left.min(STEP_BYTES))? {
                self.pass = Pass::Sample(surveyor, sample_bytes);
                return Ok(Piece::Working);
            }
            self.known(&surveyor.tally)?;
        } else {
            self.pass = Pass::Seeming(self.cells(&surveyor.tally)?);
        }
        Ok(Piece::Sheet(SheetStart { name: None, hidden: false }))
    }

    fn seeming(&mut self, mut cells: Cells<S::Stream>) -> Result<Option<Piece>, ReadError> {
        match cells.next()? {
            Next::Block(block) => {
                self.pass = Pass::Seeming(cells);
                Ok(Some(Piece::Block(block)))
            }
            Next::End(survey) => {
                self.survey = Some(survey);
                Ok(None)
            }
            Next::Otherwise => {
                let Cells { records, tally, .. } = cells;
                self.pass = Pass::Rest(Surveyor { records, tally });
                Ok(Some(Piece::Restart))
            }
        }
    }

    fn rest(&mut self, mut surveyor: Surveyor<S::Stream>) -> Result<Piece, ReadError> {
        if surveyor.step(STEP_BYTES)? {
            self.known(&surveyor.tally)?;
        } else {
            self.pass = Pass::Rest(surveyor);
        }
        Ok(Piece::Working)
    }

    fn known_cells(&mut self, mut cells: Cells<S::Stream>) -> Result<Option<Piece>, ReadError> {
        match cells.next()? {
            Next::Block(block) => {
                self.pass = Pass::Known(cells);
                Ok(Some(Piece::Block(block)))
            }
            Next::End(survey) if self.survey.as_ref() == Some(&survey) => Ok(None),
            // A file that was written meanwhile may have become something else altogether.
            Next::End(_) | Next::Otherwise => Err(ReadError::Changed),
        }
    }
}

impl<S: Source> Import for CsvImport<S> {
    fn next(&mut self) -> Result<Option<Piece>, ReadError> {
        match std::mem::replace(&mut self.pass, Pass::Done) {
            Pass::Sample(surveyor, sample_bytes) => self.sample(surveyor, sample_bytes).map(Some),
            Pass::Seeming(cells) => self.seeming(cells),
            Pass::Rest(surveyor) => self.rest(surveyor).map(Some),
            Pass::Known(cells) => self.known_cells(cells),
            Pass::Done => Ok(None),
        }
    }

    /// A sample that decides counts for nothing: the same bytes are read once more.
    fn progress(&self) -> ImportProgress {
        let (file, twice) = (self.file_bytes, self.file_bytes.saturating_mul(2));
        match &self.pass {
            Pass::Sample(..) if self.options.sample_bytes.is_some_and(|sample| sample < file) => {
                ImportProgress { done: 0, total: file }
            }
            Pass::Sample(surveyor, _) | Pass::Rest(surveyor) => {
                ImportProgress { done: surveyor.records.bytes(), total: twice }
            }
            Pass::Seeming(cells) => ImportProgress { done: cells.records.bytes(), total: file },
            Pass::Known(cells) => {
                ImportProgress { done: file.saturating_add(cells.records.bytes()), total: twice }
            }
            Pass::Done => ImportProgress { done: twice, total: twice },
        }
    }
}
