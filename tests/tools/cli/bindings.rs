//! Bindings for DocsTest. Without core, so that rustdoc needs nothing but itself.
#![feature(no_core, lang_items)]
#![no_core]

#[lang = "sized"]
pub trait Sized {}
#[lang = "copy"]
pub trait Copy {}

extern "C" {
    /// Opens it.
    pub fn open_it(path: *const u8) -> i32;
    /// Is not in the catalogue.
    pub fn unknown();
}

pub mod wrapper {
    /// Is written in Rust, and takes an external function.
    pub fn twin(_call: extern "C" fn(i32)) {}
}

pub mod exported {
    /// Is the C function itself.
    #[no_mangle]
    pub unsafe extern "C" fn twin() {}
}
