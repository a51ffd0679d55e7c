// Holds the precompiled headers of the tests (tests/CMakeLists.txt); nothing of its own.
