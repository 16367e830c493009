// Catch2 2.13 makes its main function here; Catch2 3.x brings one as a library.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
