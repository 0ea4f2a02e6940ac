//! That something is being built, and for how long: a line on a terminal, drawn again every second. How far a build has come
//! is not known to anybody.

use bakeoff_command::screen;
use bakeoff_report::format;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Says that it is over, whatever happens.
struct Over<'a>(&'a (Mutex<bool>, Condvar));

impl Drop for Over<'_> {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

/// Builds something, and meanwhile draws for how long.
pub(crate) fn watched<T>(build: impl FnOnce() -> T) -> T {
    if !screen::err_is_terminal() {
        return build();
    }
    let state = (Mutex::new(false), Condvar::new());
    let began = Instant::now();
    let draw = || {
        let mut is_over = state.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            let waited = state.1.wait_timeout(is_over, Duration::from_secs(1));
            is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !*is_over {
                screen::draw(&format!("building for {}", format::waiting_time(began.elapsed().as_secs_f64())));
            }
        }
    };
    let built = thread::scope(|scope| {
        scope.spawn(draw);
        let _over = Over(&state);
        build()
    });
    screen::erase();
    built
}
