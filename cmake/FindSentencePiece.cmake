# sentencepiece::sentencepiece and sentencepiece::train.
include(FindPackageHandleStandardArgs)
find_path(SentencePiece_INCLUDE_DIR sentencepiece_processor.h)
find_library(SentencePiece_LIBRARY NAMES sentencepiece)
find_library(SentencePiece_train_LIBRARY NAMES sentencepiece_train)
mark_as_advanced(SentencePiece_INCLUDE_DIR SentencePiece_LIBRARY SentencePiece_train_LIBRARY)
find_package_handle_standard_args(SentencePiece
    REQUIRED_VARS SentencePiece_LIBRARY SentencePiece_train_LIBRARY SentencePiece_INCLUDE_DIR)
if(SentencePiece_FOUND AND NOT TARGET sentencepiece::sentencepiece)
    add_library(sentencepiece::sentencepiece UNKNOWN IMPORTED)
    set_target_properties(sentencepiece::sentencepiece PROPERTIES
        IMPORTED_LOCATION ${SentencePiece_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SentencePiece_INCLUDE_DIR})
    add_library(sentencepiece::train UNKNOWN IMPORTED)
    set_target_properties(sentencepiece::train PROPERTIES
        IMPORTED_LOCATION ${SentencePiece_train_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SentencePiece_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES sentencepiece::sentencepiece)
endif()
