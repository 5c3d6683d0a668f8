//! What a user would pick instead, doing the same work in the same run.

#[cfg(feature = "peers")]
mod key_value;
#[cfg(feature = "peers")]
mod parquet;
#[cfg(feature = "peers")]
mod sqlite;
#[cfg(feature = "peers")]
mod xlsx;

/// Random edits.
pub(crate) mod fold {
    use crate::Failure;

    /// CPU seconds of each system.
    #[cfg(feature = "peers")]
    pub(crate) fn measured(edits: u32, rows: u32) -> Result<Vec<(&'static str, f64)>, Failure> {
        Ok(vec![
            ("fjall", super::key_value::fold_cpu_s(edits, rows)?),
            ("SQLite", super::sqlite::fold_cpu_s(edits, rows)?),
        ])
    }

    #[cfg(not(feature = "peers"))]
    pub(crate) fn measured(_edits: u32, _rows: u32) -> Result<Vec<(&'static str, f64)>, Failure> {
        Ok(Vec::new())
    }
}

/// A large sheet.
pub(crate) mod sheet {
    use crate::Failure;

    /// What one system makes of the sheet; CPU seconds are of 10 M cells.
    #[derive(Default)]
    pub(crate) struct Measured {
        pub(crate) name: &'static str,
        pub(crate) bytes_per_cell: Option<f64>,
        pub(crate) import_cpu_s: Option<f64>,
        pub(crate) import_peak_mb: Option<f64>,
        pub(crate) far_view_ms: Option<f64>,
        pub(crate) far_view_kb: Option<f64>,
        pub(crate) decode_ns: Option<f64>,
    }

    #[cfg(feature = "peers")]
    pub(crate) fn measured(rows: u32) -> Result<Vec<Measured>, Failure> {
        Ok(vec![
            super::parquet::measured(rows)?,
            super::sqlite::measured(rows)?,
            super::xlsx::measured(rows)?,
        ])
    }

    #[cfg(not(feature = "peers"))]
    pub(crate) fn measured(_rows: u32) -> Result<Vec<Measured>, Failure> {
        Ok(Vec::new())
    }
}
