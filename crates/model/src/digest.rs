//! SHA-256 as lower-case hexadecimal digits, fed by fields so that no two lists of fields collide by running into each
//! other. It names builds and studies; it is not a checksum of files.

use sha2::{Digest as _, Sha256};

/// A digest over named fields.
#[derive(Default)]
pub struct Digest(Sha256);

impl Digest {
    /// An empty digest of one kind of thing; the kind separates name spaces.
    pub fn of(kind: &str) -> Self {
        let mut digest = Self::default();
        digest.field("kind", kind.as_bytes());
        digest
    }

    /// Adds a field: both its name and its value are preceded by their lengths.
    pub fn field(&mut self, name: &str, value: &[u8]) -> &mut Self {
        for part in [name.as_bytes(), value] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    /// Adds bytes as they are: of nothing else it is their SHA-256.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(bytes);
        self
    }

    /// The 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

/// Lower-case hexadecimal digits of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let one = Digest::of("t").field("a", b"bc").hex();
        let two = Digest::of("t").field("ab", b"c").hex();
        assert_ne!(one, two);
        assert_eq!(one.len(), 64);
        assert_eq!(one, Digest::of("t").field("a", b"bc").hex());
    }

    #[test]
    fn of_bytes_it_is_what_sha256sum_says() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::default().bytes(b"a").bytes(b"bc").hex(), abc);
    }
}
