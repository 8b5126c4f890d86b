//! Records and enumerations as Rust types.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, FieldsNamed, Ident, Result};

pub fn value(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a value of a program has no type parameters"));
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(record(&input.ident, fields)),
            Fields::Unnamed(_) | Fields::Unit => {
                Err(Error::new_spanned(&input.ident, "a record has fields with names"))
            }
        },
        Data::Enum(data) => enumeration(&input.ident, data),
        Data::Union(_) => Err(Error::new_spanned(&input.ident, "a union is no value of a program")),
    }
}

/// A struct as a record. Programs have the fields of records in the order of their names.
fn record(name: &Ident, fields: &FieldsNamed) -> TokenStream {
    let mut sorted: Vec<_> =
        fields.named.iter().filter_map(|field| field.ident.as_ref().map(|name| (name, &field.ty))).collect();
    sorted.sort_by_key(|(name, _)| text(name));
    let names: Vec<&Ident> = sorted.iter().map(|(name, _)| *name).collect();
    let types: Vec<_> = sorted.iter().map(|(_, ty)| ty).collect();
    let texts: Vec<String> = names.iter().map(|name| text(name)).collect();
    let rust_name = name.to_string();
    quote! {
        impl ::dagaz::typed::Data for #name {
            fn rust_name() -> ::std::string::String {
                #rust_name.to_owned()
            }

            fn fits(ty: &::dagaz::typed::EntryType) -> bool {
                let fields = [#(::dagaz::typed::RecordField {
                    name: #texts,
                    fits: <#types as ::dagaz::typed::Data>::fits,
                }),*];
                ::dagaz::typed::is_record(ty, &fields)
            }

            fn receive(
                values: &mut dyn ::core::iter::Iterator<Item = ::dagaz::Value>,
            ) -> ::core::option::Option<Self> {
                #(let #names = <#types as ::dagaz::typed::Data>::receive(values)?;)*
                ::core::option::Option::Some(#name { #(#names),* })
            }
        }

        impl ::dagaz::typed::Give<#name> for #name {
            fn give<'a>(&'a self, to: &mut ::std::vec::Vec<::dagaz::typed::Argument<'a>>) {
                #(::dagaz::typed::Give::<#types>::give(&self.#names, to);)*
            }
        }
    }
}

/// An enum as a sum type. Programs count constructors in the order of their names.
fn enumeration(name: &Ident, data: &DataEnum) -> Result<TokenStream> {
    let mut sorted = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(
                variant,
                "a constructor that holds something has no counterpart yet",
            ));
        }
        sorted.push((text(&variant.ident).to_lowercase(), &variant.ident));
    }
    sorted.sort();
    let (texts, variants): (Vec<String>, Vec<&Ident>) = sorted.into_iter().unzip();
    let numbers: Vec<i8> = (0..=i8::MAX).take(variants.len()).collect();
    if numbers.len() < variants.len() {
        return Err(Error::new_spanned(name, "there are too many constructors"));
    }
    let rust_name = name.to_string();
    Ok(quote! {
        impl ::dagaz::typed::Data for #name {
            fn rust_name() -> ::std::string::String {
                #rust_name.to_owned()
            }

            fn fits(ty: &::dagaz::typed::EntryType) -> bool {
                ::dagaz::typed::is_enumeration(ty, &[#(#texts),*])
            }

            fn receive(
                values: &mut dyn ::core::iter::Iterator<Item = ::dagaz::Value>,
            ) -> ::core::option::Option<Self> {
                match <i8 as ::dagaz::typed::Data>::receive(values)? {
                    #(#numbers => ::core::option::Option::Some(#name::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl ::dagaz::typed::Give<#name> for #name {
            fn give<'a>(&'a self, to: &mut ::std::vec::Vec<::dagaz::typed::Argument<'a>>) {
                let number: &i8 = match self {
                    #(#name::#variants => &#numbers,)*
                };
                ::dagaz::typed::Give::<i8>::give(number, to);
            }
        }
    })
}

/// A name without the mark of those that are words of Rust.
fn text(name: &Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}
