//! Functions for the entry points of a program.

use std::path::Path;

use dagaz::typed::{EntryTypes, Program};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// Functions for the entry points of a file. What it imports is part of the Rust program, too.
pub fn of_file(path: &Path) -> Result<TokenStream, String> {
    let (program, files) = Program::with_its_files(path).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let texts = files.iter().map(|file| {
        let (name, path) = (&file.name, file.path.display().to_string());
        quote! { (#name, ::core::include_str!(#path)) }
    });
    items(&program, &quote! { ::dagaz::typed::Program::of_files(&[#(#texts),*], #name) })
}

/// Functions for the entry points of a text.
pub fn of_text(text: &str) -> Result<TokenStream, String> {
    let program = dagaz::compile(text).map_err(|error| error.to_string())?;
    items(&program, &quote! { ::dagaz::compile(#text) })
}

fn items(program: &Program, compile: &TokenStream) -> Result<TokenStream, String> {
    let entries = program.entry_types().map_err(|error| error.to_string())?;
    let functions = entries.iter().map(function).collect::<Result<Vec<_>, _>>()?;
    let typed = entries.iter().map(typed).collect::<Result<Vec<_>, _>>()?;
    let names = quote! {
        #[allow(unused_imports)]
        use ::dagaz::half::f16;
        #[allow(unused_imports)]
        use ::dagaz::ndarray::{Array1, Array2, Array3, Array4, Array5, Array6, ArrayD};
    };
    Ok(quote! {
        #[doc(hidden)]
        mod dagaz_functions {
            #names
            #(#functions)*
        }
        pub use dagaz_functions::*;

        /// The entry points themselves, for derivatives.
        pub mod entry {
            #names

            fn program() -> ::core::result::Result<&'static ::dagaz::Program, ::dagaz::Error> {
                static PROGRAM: ::std::sync::OnceLock<::dagaz::Program> = ::std::sync::OnceLock::new();
                match PROGRAM.get() {
                    ::core::option::Option::Some(program) => ::core::result::Result::Ok(program),
                    ::core::option::Option::None => {
                        let program = #compile?;
                        ::core::result::Result::Ok(PROGRAM.get_or_init(|| program))
                    }
                }
            }

            #(#typed)*
        }
    })
}

/// The Rust function that calls an entry point.
fn function(entry: &EntryTypes) -> Result<TokenStream, String> {
    let (name, doc) = (ident(&entry.name)?, doc(entry));
    let mut params = Vec::new();
    let mut args = Vec::new();
    for (number, (param, ty)) in entry.params.iter().enumerate() {
        let param = ident(param).unwrap_or_else(|_| format_ident!("argument_{number}"));
        let ty = rust_type(ty)?;
        params.push(quote! { #param: impl ::dagaz::typed::Give<#ty> });
        args.push(param);
    }
    let result = rust_type(&entry.result)?;
    Ok(quote! {
        #doc
        #[allow(clippy::too_many_arguments)]
        pub fn #name(#(#params),*) -> ::core::result::Result<#result, ::dagaz::Error> {
            super::entry::#name()?.call(#(#args),*)
        }
    })
}

/// The Rust function that gives an entry point.
fn typed(entry: &EntryTypes) -> Result<TokenStream, String> {
    let (name, doc, text) = (ident(&entry.name)?, doc(entry), &entry.name);
    let params = entry.params.iter().map(|(_, ty)| rust_type(ty)).collect::<Result<Vec<_>, _>>()?;
    let result = rust_type(&entry.result)?;
    let ty = quote! { ::dagaz::Entry<fn(#(#params),*) -> #result> };
    Ok(quote! {
        #doc
        pub fn #name() -> ::core::result::Result<&'static #ty, ::dagaz::Error> {
            static ENTRY: ::std::sync::OnceLock<#ty> = ::std::sync::OnceLock::new();
            match ENTRY.get() {
                ::core::option::Option::Some(entry) => ::core::result::Result::Ok(entry),
                ::core::option::Option::None => {
                    let entry = program()?.entry(#text)?;
                    ::core::result::Result::Ok(ENTRY.get_or_init(|| entry))
                }
            }
        }
    })
}

fn doc(entry: &EntryTypes) -> TokenStream {
    let signature = format!("`{}`", entry.signature);
    quote! { #[doc = #signature] }
}

fn ident(name: &str) -> Result<syn::Ident, String> {
    let raw = || syn::parse_str::<syn::Ident>(&format!("r#{name}"));
    syn::parse_str::<syn::Ident>(name).or_else(|_| raw()).map_err(|_| format!("`{name}` is no name in Rust"))
}

fn rust_type(name: &str) -> Result<syn::Type, String> {
    syn::parse_str(name).map_err(|error| format!("{name}: {error}"))
}
