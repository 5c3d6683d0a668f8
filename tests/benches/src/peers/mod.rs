//! Alternatives to Cellar, which do the same work in the same run.

#[cfg(feature = "peers")]
mod excel_values;
#[cfg(feature = "peers")]
mod formulas;
#[cfg(feature = "peers")]
mod full_formulas;
#[cfg(feature = "peers")]
mod key_value;
#[cfg(feature = "peers")]
mod parquet;
#[cfg(feature = "peers")]
mod sqlite;
#[cfg(feature = "peers")]
mod xlsx;

/// Formulas of workbooks that Excel has calculated.
pub(crate) mod values {
    use crate::Failure;
    use crate::works::excel_values::CellFormula;

    /// Returns for each system which of the formulas have Excel's values.
    #[cfg(feature = "peers")]
    pub(crate) fn measured(
        formulas: &[CellFormula<'_>],
    ) -> Result<Vec<(&'static str, Vec<bool>)>, Failure> {
        Ok(vec![("formualizer", super::excel_values::formualizer(formulas)?)])
    }

    #[cfg(not(feature = "peers"))]
    pub(crate) fn measured(
        _formulas: &[CellFormula<'_>],
    ) -> Result<Vec<(&'static str, Vec<bool>)>, Failure> {
        Ok(Vec::new())
    }
}

/// Formulas over a large sheet.
pub(crate) mod formula_works {
    use crate::Failure;

    /// CPU time of the calculations of one system.
    pub(crate) struct Measured {
        pub(crate) name: &'static str,
        /// Of the sum of a column, per row.
        pub(crate) sum_ns: f64,
        /// Of a chain of formulas, per formula.
        pub(crate) chain_us: f64,
    }

    #[cfg(feature = "peers")]
    pub(crate) fn measured(rows: u32) -> Result<Vec<Measured>, Failure> {
        Ok(vec![super::formulas::formualizer(rows)?, super::formulas::iron_calc(rows)?])
    }

    #[cfg(not(feature = "peers"))]
    pub(crate) fn measured(_rows: u32) -> Result<Vec<Measured>, Failure> {
        Ok(Vec::new())
    }
}

/// All formulas of a large sheet.
pub(crate) mod full_calculation {
    use crate::Failure;

    /// Work of one system. Loading is not included in the CPU time, but in the memory.
    pub(crate) struct Measured {
        pub(crate) name: &'static str,
        pub(crate) cpu_s: f64,
        pub(crate) peak_mb: Option<f64>,
    }

    #[cfg(feature = "peers")]
    pub(crate) fn measured(rows: u32) -> Result<Vec<Measured>, Failure> {
        use super::full_formulas::{IRON_CALC_SCALE, formualizer_s, iron_calc_s};
        use crate::peak_memory;
        let scale = f64::from(IRON_CALC_SCALE);
        let iron_calc_mb = peak_memory::of("IronCalc", rows)?.map(|mb| mb * scale);
        let peak_mb = peak_memory::of("formualizer", rows)?;
        Ok(vec![
            Measured { name: "formualizer", cpu_s: formualizer_s(rows)?, peak_mb },
            Measured {
                name: "IronCalc",
                cpu_s: iron_calc_s(rows / IRON_CALC_SCALE)? * scale,
                peak_mb: iron_calc_mb,
            },
        ])
    }

    #[cfg(not(feature = "peers"))]
    pub(crate) fn measured(_rows: u32) -> Result<Vec<Measured>, Failure> {
        Ok(Vec::new())
    }

    #[cfg(feature = "peers")]
    pub(crate) fn calculate_to_nowhere(system: &str, rows: u32) -> Result<(), Failure> {
        use super::full_formulas::{IRON_CALC_SCALE, formualizer_s, iron_calc_s};
        match system {
            "formualizer" => formualizer_s(rows).map(drop),
            _ => iron_calc_s(rows / IRON_CALC_SCALE).map(drop),
        }
    }

    #[cfg(not(feature = "peers"))]
    pub(crate) fn calculate_to_nowhere(_: &str, _: u32) -> Result<(), Failure> {
        Err("there is no such system in this build".into())
    }
}

/// Random edits.
pub(crate) mod fold {
    use crate::Failure;

    /// Returns the CPU seconds of each system.
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
    #[cfg(feature = "peers")]
    use crate::peak_memory;

    /// Measurements of one system; CPU seconds are for 10 M cells.
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
        let mut parquet = super::parquet::measured(rows)?;
        parquet.import_peak_mb = peak_memory::of("parquet", rows)?;
        let mut sqlite = super::sqlite::measured(rows)?;
        sqlite.import_peak_mb = peak_memory::of("sqlite", rows)?;
        let mut xlsx = super::xlsx::measured(rows)?;
        let mb = peak_memory::of("xlsx", rows)?;
        xlsx.import_peak_mb = mb.map(|mb| mb * f64::from(super::xlsx::SCALE));
        Ok(vec![parquet, sqlite, xlsx])
    }

    /// Returns the file that an import in a separate process needs.
    pub(crate) fn prepared(system: &str, rows: u32) -> Result<Vec<u8>, Failure> {
        #[cfg(feature = "peers")]
        if system == "xlsx" {
            return super::xlsx::written(rows / super::xlsx::SCALE);
        }
        let _ = (system, rows);
        Ok(Vec::new())
    }

    /// Imports with a system, and discards the output.
    #[cfg(feature = "peers")]
    pub(crate) fn import_to_nowhere(
        system: &str,
        rows: u32,
        prepared: &[u8],
    ) -> Result<(), Failure> {
        match system {
            "parquet" => super::parquet::import_to_nowhere(rows),
            "sqlite" => super::sqlite::measured(rows).map(drop),
            "xlsx" => super::xlsx::read(prepared).map(drop),
            _ => Err("there is no such system".into()),
        }
    }

    #[cfg(not(feature = "peers"))]
    pub(crate) fn import_to_nowhere(_: &str, _: u32, _: &[u8]) -> Result<(), Failure> {
        Err("there is no such system in this build".into())
    }

    #[cfg(not(feature = "peers"))]
    pub(crate) fn measured(_rows: u32) -> Result<Vec<Measured>, Failure> {
        Ok(Vec::new())
    }
}
