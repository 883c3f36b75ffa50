//! The CUDA driver, opened at run time behind the symbols that cust links to.
