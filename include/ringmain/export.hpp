// Visibility of the library's symbols; everything not marked RINGMAIN_API is hidden.
#pragma once

#define RINGMAIN_API __attribute__((visibility("default")))
