"""Operations on arrays of which only the different parts are kept; exact, whatever the sizes."""
