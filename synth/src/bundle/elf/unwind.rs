//! Clears the unwind tables of a binary that was built with `panic = "abort"`, because such a
//! binary does not use them.

use std::ops::Range;

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};

type Header = FileHeader64<LittleEndian>;

const ENDIAN: LittleEndian = LittleEndian;
/// ELF sections that contain the unwind tables and their index. A section whose bytes are all zero
/// is valid and empty.
const UNWIND_SECTIONS: [&[u8]; 2] = [b".eh_frame", b".eh_frame_hdr"];

/// The binary must be built with `panic = "abort"`: it then contains unwind tables, but does not
/// use them. The tables make up a tenth of the binary and compress poorly.
///
/// Returns the file unchanged if it has no unwind tables or is not an ELF file.
pub(in crate::bundle) fn blank_unwind_tables(mut binary: Vec<u8>) -> Vec<u8> {
    for range in unwind_ranges(&binary).unwrap_or_default() {
        if let Some(section) = binary.get_mut(range) {
            section.fill(0);
        }
    }
    binary
}

/// Returns `None` if the file is not an ELF file.
fn unwind_ranges(binary: &[u8]) -> Option<Vec<Range<usize>>> {
    let header = Header::parse(binary).ok()?;
    let sections = header.sections(ENDIAN, binary).ok()?;
    let section_range = |name: &[u8]| {
        let (_, section) = sections.section_by_name(ENDIAN, name)?;
        let (offset, bytes) = section.file_range(ENDIAN)?;
        let start = usize::try_from(offset).ok()?;
        Some(start..start.checked_add(usize::try_from(bytes).ok()?)?)
    };
    Some(UNWIND_SECTIONS.into_iter().filter_map(section_range).collect())
}

#[cfg(test)]
mod tests {
    use cellar_stacks::Architecture;

    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn a_file_without_tables_is_unchanged() {
        for bytes in [vec![], b"#!/bin/sh".to_vec(), Fixture::sound(Architecture::Arm64).bytes()] {
            assert_eq!(blank_unwind_tables(bytes.clone()), bytes);
        }
    }

    /// Use this test executable as the binary.
    #[cfg(target_os = "linux")]
    #[test]
    fn blanks_only_the_tables() {
        let before = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let ranges = unwind_ranges(&before).unwrap();
        assert_eq!(ranges.len(), 2);
        let mut expected = before.clone();
        for range in ranges {
            assert!(before[range.clone()].iter().any(|byte| *byte != 0));
            expected[range].fill(0);
        }
        assert!(blank_unwind_tables(before) == expected);
    }

    #[test]
    fn a_truncated_file_is_unchanged() {
        let mut binary = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        binary.truncate(100);
        assert_eq!(blank_unwind_tables(binary.clone()), binary);
    }
}
