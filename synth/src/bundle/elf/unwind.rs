//! Tables for going back up the stack, which a program that ends at its first panic never reads.

use std::ops::Range;

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};

type Header = FileHeader64<LittleEndian>;

const ENDIAN: LittleEndian = LittleEndian;
/// The tables, and the index of them. Zeros say that the tables end at once, and that there is no index.
const TABLES: [&[u8]; 2] = [b".eh_frame", b".eh_frame_hdr"];

/// Blanks the tables of a program that was built with `panic = "abort"`: they are a tenth of it, and
/// compress badly. Compilers and linkers write them all the same. Something that is no ELF file, or has
/// no such tables, stays what it is.
pub(in crate::bundle) fn without_tables(mut binary: Vec<u8>) -> Vec<u8> {
    for range in tables(&binary).unwrap_or_default() {
        if let Some(table) = binary.get_mut(range) {
            table.fill(0);
        }
    }
    binary
}

/// Where they are in the file.
fn tables(binary: &[u8]) -> Option<Vec<Range<usize>>> {
    let header = Header::parse(binary).ok()?;
    let sections = header.sections(ENDIAN, binary).ok()?;
    let range = |name: &[u8]| {
        let (_, section) = sections.section_by_name(ENDIAN, name)?;
        let (offset, bytes) = section.file_range(ENDIAN)?;
        let start = usize::try_from(offset).ok()?;
        Some(start..start.checked_add(usize::try_from(bytes).ok()?)?)
    };
    Some(TABLES.into_iter().filter_map(range).collect())
}

#[cfg(test)]
mod tests {
    use cellar_stacks::Architecture;

    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn what_has_no_tables_stays_what_it_is() {
        for bytes in [vec![], b"#!/bin/sh".to_vec(), Fixture::sound(Architecture::Arm64).bytes()] {
            assert_eq!(without_tables(bytes.clone()), bytes);
        }
    }

    /// With a program that a linker made: this one.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_tables_are_blank_and_nothing_else_is() {
        let before = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let places = tables(&before).unwrap();
        assert_eq!(places.len(), 2);
        let mut expected = before.clone();
        for place in places {
            assert!(before[place.clone()].iter().any(|byte| *byte != 0));
            expected[place].fill(0);
        }
        assert!(without_tables(before) == expected);
    }

    #[test]
    fn a_table_that_lies_outside_of_the_file_is_left() {
        let mut binary = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        binary.truncate(100);
        assert_eq!(without_tables(binary.clone()), binary);
    }
}
