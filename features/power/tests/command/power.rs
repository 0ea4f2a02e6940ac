//! `bakeoff power` as a whole.

use crate::common::small;

#[test]
fn a_pilot_says_how_many_blocks_it_takes_and_a_spread_does_too() {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "3", "--simulate", "noise:0.01"]);
    assert_eq!(sandbox.execute(&["power", "STUDY"]).code, 2, "three blocks are no pilot");
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "6", "--simulate", "noise:0.01"]);
    sandbox.execute(&["power", "STUDY", "--see", "1%"]).expect(0, &["see 1 %", "seen so far"]);
    sandbox.execute(&["power", "--sd", "2%"]).expect(0, &["129", "34", "11", "36"]);
    let shown = sandbox.execute(&["power", "--sd", "2%", "--see", "1%", "--power", "95%", "--json"]);
    assert!(shown.out.contains("55"), "{}", shown.out);
    assert_eq!(sandbox.execute(&["power"]).code, 2);
    // Each of both programs has its own layout: √(1² + 2 × 1.2247²) = 2.
    let laid_out = sandbox.execute(&["power", "--sd", "1%", "--layouts", "1.2247449%"]);
    laid_out.expect(0, &["129", "34", "11", "36", "with the spread of both layouts"]);
    assert_eq!(sandbox.execute(&["power", "STUDY", "--layouts", "2%"]).code, 2, "a pilot has it in its blocks");
}
