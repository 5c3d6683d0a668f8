//! What a binary says of itself. Its bytes are not trusted: whatever they are, reading them ends, and
//! takes no more memory than the bounds allow.

use std::collections::{BTreeMap, BTreeSet};

use object::elf::{
    DT_NEEDED, DT_VERNEED, ELFCLASS64, ELFDATA2LSB, ET_DYN, ET_EXEC, FileHeader64, PT_DYNAMIC,
    VER_FLG_WEAK, VERSYM_VERSION,
};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionTable, Sym as _};
use object::{LittleEndian, StringTable};

use super::fault::ElfFault;
use crate::bundle::limits::{MAX_DYNAMIC_ENTRIES, MAX_NAME_BYTES, MAX_VERSION_NEEDS};

type Header = FileHeader64<LittleEndian>;
type Sections<'data> = SectionTable<'data, Header>;
type Strings<'data> = StringTable<'data>;

const ENDIAN: LittleEndian = LittleEndian;
/// Behind it are the class and the order of bytes.
const ELF_MAGIC: &[u8] = b"\x7fELF";

/// What a binary says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Linked {
    /// Number of the processor.
    pub(super) machine: u16,
    /// Whether it can be started.
    pub(super) is_program: bool,
    /// The loader that starts it; `None` if it is linked statically.
    pub(super) loader: Option<String>,
    /// Libraries that are loaded with it.
    pub(super) libraries: Vec<String>,
    /// Versions that these must have.
    pub(super) versions: Vec<VersionNeed>,
}

/// A version that a library must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VersionNeed {
    /// The version's name, such as `GLIBC_2.34`.
    pub(super) version: String,
    /// The library's file.
    pub(super) library: String,
    /// A symbol that needs it.
    pub(super) symbol: Option<String>,
}

/// Reads it.
pub(super) fn read(binary: &[u8]) -> Result<Linked, ElfFault> {
    check_format(binary)?;
    let header = Header::parse(binary).map_err(malformed)?;
    let sections = header.section_headers(ENDIAN, binary).map_err(malformed)?;
    let sections = Sections::new(sections, Strings::default());
    let mut loader = None;
    let mut is_dynamic = false;
    for segment in header.program_headers(ENDIAN, binary).map_err(malformed)? {
        is_dynamic |= segment.p_type(ENDIAN) == PT_DYNAMIC;
        if let Some(path) = segment.interpreter(ENDIAN, binary).map_err(malformed)? {
            loader = Some(text(path)?);
        }
    }
    let kind = header.e_type(ENDIAN);
    let (libraries, names_versions) = libraries(binary, &sections, is_dynamic)?;
    Ok(Linked {
        machine: header.e_machine(ENDIAN),
        is_program: matches!(kind, ET_EXEC | ET_DYN) && header.e_entry(ENDIAN) != 0,
        loader,
        libraries,
        versions: versions(binary, &sections, names_versions)?,
    })
}

fn check_format(binary: &[u8]) -> Result<(), ElfFault> {
    let Some(ident) = binary.strip_prefix(ELF_MAGIC) else {
        return Err(ElfFault::NotElf { found: look(binary) });
    };
    match ident.get(..2) {
        Some([ELFCLASS64, ELFDATA2LSB]) => Ok(()),
        Some(_) => Err(ElfFault::Class),
        None => Err(ElfFault::Malformed("it ends within its first bytes".to_owned())),
    }
}

/// What something is that is no ELF file.
fn look(binary: &[u8]) -> &'static str {
    match binary {
        [] => "an empty file",
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => "a program for macOS",
        [b'M', b'Z', ..] => "a program for Windows",
        [b'#', b'!', ..] => "a script",
        _ => "no program",
    }
}

/// The libraries, and whether versions of them are asked for. The sections are read, as linkers write
/// them, and not what the loader reads; where they were cut off, nothing is known.
fn libraries(
    binary: &[u8],
    sections: &Sections<'_>,
    is_dynamic: bool,
) -> Result<(Vec<String>, bool), ElfFault> {
    let table = sections.dynamic_table(ENDIAN, binary).map_err(malformed)?;
    if is_dynamic && table.is_empty() {
        return Err(ElfFault::Malformed("its section headers were cut off".to_owned()));
    }
    let (mut libraries, mut names_versions) = (Vec::new(), false);
    for (number, entry) in table.iter().enumerate() {
        if number >= MAX_DYNAMIC_ENTRIES {
            let what = "entries in its dynamic section";
            return Err(ElfFault::TooMany { what, limit: MAX_DYNAMIC_ENTRIES });
        }
        names_versions |= entry.tag == DT_VERNEED;
        if entry.tag == DT_NEEDED {
            libraries.push(text(table.string(entry).map_err(malformed)?)?);
        }
    }
    Ok((libraries, names_versions))
}

/// The versions that are needed, weak needs apart: those the loader does without.
fn versions(
    binary: &[u8],
    sections: &Sections<'_>,
    expected: bool,
) -> Result<Vec<VersionNeed>, ElfFault> {
    let Some((mut libraries, link)) = sections.gnu_verneed(ENDIAN, binary).map_err(malformed)?
    else {
        return match expected {
            true => Err(ElfFault::Malformed("its list of versions was cut off".to_owned())),
            false => Ok(Vec::new()),
        };
    };
    let strings = sections.strings(ENDIAN, binary, link).map_err(malformed)?;
    let mut needs = Vec::new();
    let mut left = MAX_VERSION_NEEDS;
    while let Some((library, mut versions)) = libraries.next().map_err(malformed)? {
        let file = text(library.file(ENDIAN, strings).map_err(malformed)?)?;
        count_down(&mut left)?;
        while let Some(version) = versions.next().map_err(malformed)? {
            count_down(&mut left)?;
            if version.vna_flags.get(ENDIAN) & VER_FLG_WEAK == 0 {
                let name = text(version.name(ENDIAN, strings).map_err(malformed)?)?;
                let need = VersionNeed { version: name, library: file.clone(), symbol: None };
                needs.push((version.vna_other.get(ENDIAN) & VERSYM_VERSION, need));
            }
        }
    }
    let mut symbols = symbols(binary, sections, needs.iter().map(|(number, _)| *number))?;
    let named = |(number, need)| VersionNeed { symbol: symbols.remove(&number), ..need };
    Ok(needs.into_iter().map(named).collect())
}

fn count_down(left: &mut usize) -> Result<(), ElfFault> {
    let what = "versions that it needs";
    *left = left.checked_sub(1).ok_or(ElfFault::TooMany { what, limit: MAX_VERSION_NEEDS })?;
    Ok(())
}

/// The first symbol that has the version of each number.
fn symbols(
    binary: &[u8],
    sections: &Sections<'_>,
    numbers: impl Iterator<Item = u16>,
) -> Result<BTreeMap<u16, String>, ElfFault> {
    let mut found = BTreeMap::new();
    let mut missing: BTreeSet<u16> = numbers.collect();
    let Some((numbers, link)) = sections.gnu_versym(ENDIAN, binary).map_err(malformed)? else {
        return Ok(found);
    };
    let symbols = sections.symbol_table_by_index(ENDIAN, binary, link).map_err(malformed)?;
    for (symbol, number) in symbols.iter().zip(numbers) {
        let number = number.0.get(ENDIAN) & VERSYM_VERSION;
        if missing.remove(&number) {
            let name = symbol.name(ENDIAN, symbols.strings()).map_err(malformed)?;
            found.insert(number, text(name)?);
        }
    }
    Ok(found)
}

/// A name. Whatever is longer ends the reading, so that no binary has the same bytes read for ever.
fn text(name: &[u8]) -> Result<String, ElfFault> {
    if name.len() > MAX_NAME_BYTES {
        return Err(ElfFault::TooMany { what: "bytes in a name", limit: MAX_NAME_BYTES });
    }
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn malformed(error: object::read::Error) -> ElfFault {
    ElfFault::Malformed(error.to_string())
}
