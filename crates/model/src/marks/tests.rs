//! Marks as workloads write them, and what they amount to.

use super::*;

#[test]
fn it_reads() {
    let chunks = [Chunk { at_s: 0.5, bytes: b"phase a\nop get 0.1\nvalue x 3 MB\n".to_vec() }];
    let told = read(&chunks, 0.0, 2.0).unwrap();
    assert_eq!(told.marks.value("a.wall", None), Some(1.5));
    assert_eq!(told.marks.value("a.op.get.max", None), Some(0.1));
}
