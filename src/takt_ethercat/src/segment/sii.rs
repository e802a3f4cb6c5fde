// SPDX-License-Identifier: Apache-2.0
//! The EEPROM of a simulated slave: the slave information interface (SII, ETG.2010).

/// Bytes of process data of each slave: so many outputs, and as many inputs.
pub const DATA_BYTES: u16 = 4;
/// Where a slave keeps its outputs and its inputs.
pub const OUTPUTS_AT: u16 = 0x1000;
pub const INPUTS_AT: u16 = 0x1100;
/// Control bytes of the two sync managers: three buffers; written by the master, read by it.
pub const OUTPUTS_CONTROL: u8 = 0x24;
pub const INPUTS_CONTROL: u8 = 0x20;

/// Of no vendor: the EtherCAT Technology Group gives none this number.
pub const VENDOR: u32 = 0x0000_7a6b;
pub const PRODUCT: u32 = 0x0000_0010;

const BYTES: usize = 2048;
const CATEGORIES_AT: usize = 0x80;
const STRINGS: u16 = 10;
const GENERAL: u16 = 30;
const FMMUS: u16 = 40;
const SYNC_MANAGERS: u16 = 41;
const INPUT_PDOS: u16 = 50;
const OUTPUT_PDOS: u16 = 51;
const END: u16 = 0xffff;

/// The content of the EEPROM of the slave with this serial number.
pub fn image(serial: u32) -> Vec<u8> {
    let mut words = vec![0u8; CATEGORIES_AT];
    let mut put = |word: usize, bytes: &[u8]| {
        words[2 * word..2 * word + bytes.len()].copy_from_slice(bytes);
    };
    put(0x08, &VENDOR.to_le_bytes());
    put(0x0a, &PRODUCT.to_le_bytes());
    put(0x0c, &1u32.to_le_bytes()); // revision
    put(0x0e, &serial.to_le_bytes());
    put(0x3e, &(BYTES as u16 / 128 - 1).to_le_bytes()); // in kbit, less one
    put(0x3f, &1u16.to_le_bytes()); // version
    words[14] = checksum(&words[..14]);

    let mut strings = vec![2];
    for text in ["TaktSim", "Takt simulated slave"] {
        strings.push(text.len() as u8);
        strings.extend_from_slice(text.as_bytes());
    }
    category(&mut words, STRINGS, &strings);
    let mut general = [0u8; 32];
    (general[2], general[3]) = (1, 2); // the strings of its order and of its name
    category(&mut words, GENERAL, &general);
    category(&mut words, FMMUS, &[1, 2]); // outputs, inputs
    let mut managers = Vec::new();
    for (start, control, kind) in [
        (OUTPUTS_AT, OUTPUTS_CONTROL, 3u8),
        (INPUTS_AT, INPUTS_CONTROL, 4),
    ] {
        managers.extend_from_slice(&start.to_le_bytes());
        managers.extend_from_slice(&DATA_BYTES.to_le_bytes());
        managers.extend_from_slice(&[control, 0, 1, kind]);
    }
    category(&mut words, SYNC_MANAGERS, &managers);
    category(&mut words, INPUT_PDOS, &pdo(0x1a00, 0x6000, 1));
    category(&mut words, OUTPUT_PDOS, &pdo(0x1600, 0x7000, 0));
    words.extend_from_slice(&END.to_le_bytes());
    words.resize(BYTES, 0xff);
    words
}

/// A process data object of one 32-bit entry, on this sync manager.
fn pdo(index: u16, entry: u16, sync_manager: u8) -> Vec<u8> {
    let mut bytes = index.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[1, sync_manager, 0, 0, 0, 0]);
    bytes.extend_from_slice(&entry.to_le_bytes());
    bytes.extend_from_slice(&[1, 0, 7, 8 * DATA_BYTES as u8, 0, 0]); // 7: unsigned of 32 bits
    bytes
}

fn category(into: &mut Vec<u8>, kind: u16, bytes: &[u8]) {
    into.extend_from_slice(&kind.to_le_bytes());
    into.extend_from_slice(&(bytes.len().div_ceil(2) as u16).to_le_bytes());
    into.extend_from_slice(bytes);
    into.resize(into.len().next_multiple_of(2), 0);
}

/// CRC-8, polynomial x^8 + x^2 + x + 1, from 0xff.
fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xff, |sum, byte| {
        (0..8).fold(sum ^ byte, |crc: u8, _| {
            (crc << 1) ^ if crc & 0x80 != 0 { 0x07 } else { 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_crc_8() {
        // The check value of CRC-8/ROHC's polynomial with the same start, not reflected: MIFARE's
        // relatives differ, so the plain definition is written out for two short messages.
        assert_eq!(checksum(&[]), 0xff);
        assert_eq!(checksum(&[0xff]), 0x00);
    }

    #[test]
    fn it_is_as_long_as_it_says_and_names_every_category_once() {
        let bytes = image(3);
        let word = |at: usize| u16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]]);
        assert_eq!((usize::from(word(0x3e)) + 1) * 128, bytes.len());
        let mut at = 0x40;
        let mut kinds = Vec::new();
        while word(at) != END {
            kinds.push(word(at));
            at += 2 + usize::from(word(at + 1));
        }
        assert_eq!(
            kinds,
            [
                STRINGS,
                GENERAL,
                FMMUS,
                SYNC_MANAGERS,
                INPUT_PDOS,
                OUTPUT_PDOS
            ]
        );
    }
}
