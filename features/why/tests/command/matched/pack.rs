//! A program of Rust for the matching of functions: it packs and unpacks text by a crate of which there are two versions, and
//! prints one number.

use std::collections::BTreeMap;

#[inline(never)]
fn text(words: usize) -> String {
    let mut state = 12_345_u32;
    let mut next = || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        state >> 16
    };
    let mut made = String::new();
    for place in 0..words {
        made += &format!("{:x} {} ", next() % 97, ["one", "two", "three"][place % 3]);
    }
    made
}

#[inline(never)]
fn count(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    text.split(' ').for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

fn main() {
    let words = std::env::args().nth(1).map_or(3000, |number| number.parse().unwrap());
    let text = text(words);
    let mut sum = count(&text).into_iter().map(|(word, times)| word.len() * times).sum::<usize>();
    for level in [1, 6, 9] {
        let packed = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), level);
        let again = miniz_oxide::inflate::decompress_to_vec(&packed).unwrap();
        assert!(again == text.as_bytes());
        sum += packed.len();
    }
    println!("{sum}");
}
