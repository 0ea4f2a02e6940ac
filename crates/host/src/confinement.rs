//! Whether the kernel has Landlock, by which a command can be confined to its folders.

use std::io;

/// Whether a command can be confined: the version of the kernel's Landlock, else why not, in words.
pub fn confinement() -> Result<u32, String> {
    /// Before this version nobody may move a file to another folder, which builds do.
    const FIRST: u32 = 2;
    const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    #[allow(unsafe_code, reason = "there is no safe wrapper for this call")]
    // SAFETY: with this flag the call looks at no memory.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0, LANDLOCK_CREATE_RULESET_VERSION) };
    match u32::try_from(version) {
        Ok(version) if version >= FIRST => Ok(version),
        Ok(version) => Err(format!("this kernel's Landlock version {version} is too old (needs Linux 5.19)")),
        Err(_) => Err(match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENOSYS) => {
                "this kernel has no Landlock (needs Linux 5.19)".to_owned()
            }
            error if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                "Landlock was switched off at boot (kernel parameter lsm=)".to_owned()
            }
            error => format!("cannot use Landlock here: {error}"),
        }),
    }
}
